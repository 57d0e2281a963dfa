import { expect, test } from "bun:test";
import { BRANCH, commitFiles } from "../../../test/checkpoints/branch.ts";
import { temporaryRepository } from "../../../test/support/index.ts";
import { findWorkspace } from "../../git/workspace.ts";
import { newCheckpointId, type SessionMetadata } from "../format/layout.ts";
import { openObjects, writeCheckpoint } from "./write.ts";

function metadata(id: string, session: string): SessionMetadata {
  return {
    cli_version: "1",
    checkpoint_id: id,
    session_id: session,
    strategy: "manual-commit",
    created_at: "2026-01-05T09:00:00Z",
    checkpoints_count: 1,
    files_touched: [`${session}.txt`],
    agent: "Claude Code",
  };
}

function world() {
  const repository = temporaryRepository();
  const workspace = findWorkspace(repository.path);
  if (!workspace) throw new Error("No workspace.");
  const write = async (id: string, session: string) => {
    const objects = openObjects(workspace);
    const files = new Map([["full.jsonl", objects.writer.add("blob", Buffer.from(`${session}\n`))]]);
    await writeCheckpoint(workspace, objects, id, [{ metadata: metadata(id, session), files, tasks: new Map() }]);
    objects.reader.close();
  };
  return { repository, write };
}

test("writers at the same time lose nothing of each other", async () => {
  const { repository, write } = world();
  using _ = repository;
  const ids = Array.from({ length: 8 }, newCheckpointId);
  await Promise.all(ids.map((id, i) => write(id, `s${i}`)));
  const names = repository.git("ls-tree", "-r", "--name-only", "entire/checkpoints/v1");
  for (const id of ids) expect(names).toContain(`${id.slice(0, 2)}/${id.slice(2)}/0/full.jsonl`);
  expect(repository.git("rev-list", "--count", "entire/checkpoints/v1")).toBe("8");
  expect(repository.git("fsck", "--strict", "--no-dangling")).toBe("");
});

test("a session keeps its position in a rewritten checkpoint, and a new session is appended", async () => {
  const { repository, write } = world();
  using _ = repository;
  const id = "0123456789ab";
  await write(id, "first");
  await write(id, "second");
  await write(id, "first");
  const at = (path: string) => repository.git("cat-file", "-p", `entire/checkpoints/v1:01/23456789ab/${path}`);
  expect(at("0/full.jsonl")).toBe("first");
  expect(at("1/full.jsonl")).toBe("second");
  expect(JSON.parse(at("metadata.json")).sessions).toHaveLength(2);
  expect(JSON.parse(at("metadata.json")).files_touched).toEqual(["first.txt", "second.txt"]);
  expect(repository.git("rev-list", "--count", "entire/checkpoints/v1")).toBe("2");
});

test("another tool's fields of a checkpoint and its sessions stay", async () => {
  const { repository, write } = world();
  using _ = repository;
  const theirs = {
    metadata: "/01/23456789ab/0/metadata.json",
    prompt: "",
    compact_transcript: "/x",
    assets_manifest: "/y",
  };
  const summary = {
    checkpoint_id: "0123456789ab",
    strategy: "manual-commit",
    branch: "long-gone",
    checkpoints_count: 7,
    sessions: [theirs],
    has_review: true,
    combined_attribution: { agent_lines: 3 },
  };
  commitFiles(repository, BRANCH, {
    "01/23456789ab/metadata.json": JSON.stringify(summary),
    "01/23456789ab/0/metadata.json": JSON.stringify({ ...metadata("0123456789ab", "theirs"), kind: "agent_review" }),
    "01/23456789ab/0/transcript.jsonl": "{}\n",
  });
  await write("0123456789ab", "ours");
  const at = (path: string) => repository.git("cat-file", "-p", `entire/checkpoints/v1:01/23456789ab/${path}`);
  expect(JSON.parse(at("metadata.json"))).toMatchObject({
    checkpoints_count: 2,
    has_review: true,
    combined_attribution: { agent_lines: 3 },
    sessions: [
      theirs,
      { metadata: "/01/23456789ab/1/metadata.json", transcript: "/01/23456789ab/1/full.jsonl", prompt: "" },
    ],
  });
  expect(JSON.parse(at("metadata.json")).branch).toBeUndefined();
  expect(JSON.parse(at("metadata.json")).sessions[1].context).toBeUndefined();
  expect(JSON.parse(at("0/metadata.json")).kind).toBe("agent_review");
  expect(at("0/transcript.jsonl")).toBe("{}");
});

test("an invalid checkpoint of another tool is extended and keeps its content", async () => {
  const { repository, write } = world();
  using _ = repository;
  const blob = (text: string) => {
    repository.write("nonsense", text);
    return repository.git("hash-object", "-w", "nonsense");
  };
  const tree = (...entries: string[]) => {
    const made = Bun.spawnSync(["git", "mktree"], {
      cwd: repository.path,
      env: repository.environment(),
      stdin: Buffer.from(entries.join("\n")),
    });
    return made.stdout.toString().trim();
  };
  const inner = tree(`100644 blob ${blob("{")}\tmetadata.json`);
  const checkpoint = tree(
    `040000 tree ${inner}\tmetadata.json`,
    `100644 blob ${blob("x")}\t0`,
    `040000 tree ${inner}\t1`,
  );
  const root = tree(`040000 tree ${tree(`040000 tree ${checkpoint}\t23456789ab`)}\t01`);
  repository.git("branch", "entire/checkpoints/v1", repository.git("commit-tree", root, "-m", "theirs"));
  await write("0123456789ab", "ours");
  const at = (path: string) => repository.git("cat-file", "-p", `entire/checkpoints/v1:01/23456789ab/${path}`);
  expect(at("0")).toBe("x");
  expect(at("2/full.jsonl")).toBe("ours");
  expect(JSON.parse(at("metadata.json")).sessions).toHaveLength(3);
});
