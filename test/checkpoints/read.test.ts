/** The public format, read from a fixture that was written by hand; and what a hostile remote may send. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { UserError } from "../../src/base/errors.ts";
import { ownPrompts, readAs } from "../../src/checkpoints/blame/line-rationale.ts";
import { CheckpointReader, checkpointsNamedIn, promptsIn } from "../../src/checkpoints/read/read.ts";
import { findWorkspace, type Workspace } from "../../src/git/workspace.ts";
import { type TemporaryRepository, temporaryRepository } from "../support/index.ts";
import { BRANCH, type Content, commitFiles, exampleCheckpoint, ID, TRANSCRIPT } from "./branch.ts";

const hash = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const ULID = "01JKXW3M5T8Q2V7ZC9D4E6F8GH";

let repository: TemporaryRepository;
let workspace: Workspace;

beforeAll(() => {
  repository = temporaryRepository();
  workspace = findWorkspace(repository.path) as Workspace;
});
afterAll(() => repository.remove());

async function reading<T>(use: (reader: CheckpointReader) => Promise<T>): Promise<T> {
  const reader = new CheckpointReader(workspace);
  try {
    return await use(reader);
  } finally {
    reader.close();
  }
}

describe("the branch", () => {
  test("every field is read", async () => {
    commitFiles(repository, BRANCH, exampleCheckpoint(hash));
    const checkpoint = await reading((reader) => reader.find(ID));
    expect(checkpoint?.defects).toEqual([]);
    expect(checkpoint?.layout).toBe("branch");
    expect(checkpoint?.summary).toMatchObject({ branch: "main", checkpoints_count: 3, strategy: "manual-commit" });
    expect(checkpoint?.summary.token_usage?.subagent_tokens?.output_tokens).toBe(4);
    const [first, second] = checkpoint?.sessions ?? [];
    expect(first?.prompts).toEqual(["Greet the user by name", "And say goodbye\nin two lines"]);
    expect(first?.metadata.summary?.learnings.code).toEqual([
      { path: "greet.ts", line: 1, end_line: 2, finding: "Default name is World" },
    ]);
    expect(first?.metadata.initial_attribution?.agent_percentage).toBe(75);
    expect(first?.hasTranscript).toBe(true);
    expect(second?.metadata).toMatchObject({ session_id: "cursor-session", agent: "Cursor" });
    expect(second?.hasTranscript).toBe(false);
    expect(checkpoint?.tasks).toMatchObject([{ tool_use_id: "toolu_01", agent_id: "a1" }]);
  });

  test("the chunks make the transcript again, byte for byte", async () => {
    commitFiles(repository, BRANCH, exampleCheckpoint(hash));
    const transcript = await reading((reader) => reader.transcript(ID, 0));
    expect(Buffer.from(transcript?.bytes ?? []).toString()).toBe(TRANSCRIPT);
    expect(transcript?.defects).toEqual([]);
    expect(await reading((reader) => reader.transcript(ID, 1))).toBeUndefined();
  });

  test("a fetched checkpoint without a local branch is found", async () => {
    using elsewhere = temporaryRepository();
    commitFiles(elsewhere, "refs/remotes/origin/entire/checkpoints/v1", exampleCheckpoint(hash));
    const reader = new CheckpointReader(findWorkspace(elsewhere.path) as Workspace);
    expect((await reader.find(ID))?.sessions.length).toBe(2);
    reader.close();
  });

  test("a missing checkpoint is not found", async () => {
    for (const id of ["ffffffffffff", "../../../etc", "../../../heads/main", "a3", "", "--all", ULID]) {
      expect(await reading((reader) => reader.find(id))).toBeUndefined();
    }
  });
});

test("the newer layout has one ref a checkpoint, with a compact transcript", async () => {
  const files: Record<string, string> = {};
  for (const [path, content] of Object.entries(exampleCheckpoint(hash))) {
    const name = path.slice("a3/b2c4d5e6f7/".length).replace("full.jsonl", "transcript.jsonl");
    files[name] = content.replaceAll(ID, ULID);
  }
  commitFiles(repository, `refs/entire/checkpoints/${ULID.slice(-2)}/${ULID}`, {
    ...files,
    "assets/manifest.json": "{}",
  });
  const checkpoint = await reading((reader) => reader.find(ULID));
  expect(checkpoint).toMatchObject({ layout: "ref", defects: [] });
  expect(checkpoint?.sessions.map(({ metadata }) => metadata.agent)).toEqual(["Claude Code", "Cursor"]);
  const transcript = await reading((reader) => reader.transcript(ULID, 0));
  expect(Buffer.from(transcript?.bytes ?? []).toString()).toBe(TRANSCRIPT);
});

test("a checkpoint moved to the newer layout keeps its id, and its tasks have a newer file", async () => {
  using place = temporaryRepository();
  commitFiles(place, BRANCH, exampleCheckpoint(hash));
  const moved: Record<string, string> = {};
  for (const [path, content] of Object.entries(exampleCheckpoint(hash))) {
    const name = path.slice("a3/b2c4d5e6f7/".length).replace("checkpoint.json", "task.json");
    moved[name] = content.replaceAll("Claude Code", "Claude Code, later");
  }
  commitFiles(place, `refs/entire/checkpoints/${ID.slice(-2)}/${ID}`, moved);
  const reader = new CheckpointReader(findWorkspace(place.path) as Workspace);
  const checkpoint = await reader.find(ID);
  reader.close();
  expect(checkpoint).toMatchObject({
    layout: "ref",
    defects: [],
    tasks: [{ tool_use_id: "toolu_01", agent_id: "a1" }],
  });
  expect(checkpoint?.sessions[0]?.metadata.agent).toBe("Claude Code, later");
});

describe("hostile", () => {
  const reads = async (changes: Record<string, Content>) => {
    using place = temporaryRepository();
    commitFiles(place, BRANCH, { ...exampleCheckpoint(hash), ...changes });
    const reader = new CheckpointReader(findWorkspace(place.path) as Workspace);
    try {
      return { checkpoint: await reader.find(ID), transcript: await reader.transcript(ID, 0) };
    } finally {
      reader.close();
    }
  };
  const path = (name: string) => `a3/b2c4d5e6f7/${name}`;

  test.each([
    ["no JSON", "{", "not valid JSON"],
    ["a list", "[]", "not a JSON object"],
    ["no id", '{"checkpoint_id":"../../../etc"}', "not a checkpoint id"],
    ["sessions that are none", `{"checkpoint_id":"${ID}","sessions":{"length":9}}`, "not a list"],
    ["a link", { link: "/etc/passwd" }, "not a plain file"],
  ] as [string, Content, string][])("a summary (%s) is refused with the reason", async (_, content, reason) => {
    const failure = await reads({ [path("metadata.json")]: content }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UserError);
    expect((failure as UserError).message).toContain(reason);
  });

  test("a session that cannot be read leaves the others", async () => {
    const { checkpoint } = await reads({ [path("0/metadata.json")]: '{"session_id":7}' });
    expect(checkpoint?.sessions.map(({ index }) => index)).toEqual([1]);
    expect(checkpoint?.defects).toContainEqual({
      kind: "file-invalid",
      path: "0/metadata.json",
      reason: "no-session-id",
    });
  });

  test("a transcript that does not match its hash is reported", async () => {
    const { transcript } = await reads({ [path("0/content_hash.txt")]: hash("another") });
    expect(transcript?.defects).toEqual([{ kind: "transcript-changed", session: 0 }]);
  });

  test("paths that a summary names are not followed", async () => {
    const { checkpoint } = await reads({
      [path("metadata.json")]: JSON.stringify({
        checkpoint_id: ID,
        sessions: [{ metadata: "/../../etc/passwd", transcript: "/etc/passwd", prompt: "/dev/zero" }],
      }),
    });
    expect(checkpoint?.sessions.length).toBe(2);
    expect(checkpoint?.defects).toEqual([{ kind: "sessions-miscounted", named: 1, sessions: 2 }]);
  });

  test("a field of the wrong type counts as absent", async () => {
    const metadata = { session_id: "s", files_touched: ["a", 1, null], agent: 4, token_usage: { input_tokens: -1 } };
    const { checkpoint } = await reads({
      [path("0/metadata.json")]: JSON.stringify({ ...metadata, summary: "x", created_at: [] }),
    });
    expect(checkpoint?.sessions[0]?.metadata).toMatchObject({ files_touched: ["a"], agent: "Agent", created_at: "" });
    expect(checkpoint?.sessions[0]?.metadata.token_usage?.input_tokens).toBe(0);
    expect(checkpoint?.sessions[0]?.metadata.summary).toBeUndefined();
  });

  test("a file that is absurdly large is not even read", async () => {
    const { checkpoint } = await reads({ [path("0/metadata.json")]: Buffer.alloc(9 * 1024 * 1024, 32) });
    expect(checkpoint?.defects).toContainEqual({ kind: "file-too-large", path: "0/metadata.json", mebibytes: 9 });
  });

  test("trailers that name no checkpoint are passed over", () => {
    const message = `Subject\n\nEntire-Checkpoint: ${ID}\nEntire-Checkpoint: ../../x\nEntire-Checkpoint: ${ID}\nEntire-Checkpoint: ${ULID}\nNot-Entire-Checkpoint: ffffffffffff\n`;
    expect(checkpointsNamedIn(message)).toEqual([ID, ULID]);
  });

  test("prompts are separated by the line alone", () => {
    expect(promptsIn("a --- b\n\n---\n\n----\n")).toEqual(["a --- b", "----"]);
  });
});

describe("what newer versions of other tools write", () => {
  const AT = "a3/b2c4d5e6f7";
  const COMPACT = [
    { v: 1, type: "user", agent: "claude-code", content: [{ text: "Draw a fox" }] },
    { v: 1, type: "assistant", id: "m1", content: [{ type: "text", text: "Here it is." }] },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");

  /** In a repository of its own: files that were committed before stay on the branch. */
  async function readingIn<T>(
    files: Readonly<Record<string, Content>>,
    use: (reader: CheckpointReader) => Promise<T>,
  ): Promise<T> {
    using place = temporaryRepository();
    commitFiles(place, BRANCH, files);
    const reader = new CheckpointReader(findWorkspace(place.path) as Workspace);
    try {
      return await use(reader);
    } finally {
      reader.close();
    }
  }

  function withoutTranscript(): Record<string, string> {
    const all = Object.entries(exampleCheckpoint(hash));
    return Object.fromEntries(all.filter(([path]) => !path.startsWith(`${AT}/0/full`)));
  }

  test("a session with only a compact transcript is read", async () => {
    const files = withoutTranscript();
    const stored = { ...files, [`${AT}/0/transcript.jsonl`]: COMPACT };
    const transcript = await readingIn(stored, (reader) => reader.transcript(ID, 0));
    const conversation = await readAs("Claude Code", transcript?.bytes ?? new Uint8Array());
    expect(conversation?.entries.map(({ type, text }) => [type, text])).toEqual([
      ["prompt", "Draw a fox"],
      ["answer", "Here it is."],
    ]);
  });

  test("removed images are put back; a missing one stays a placeholder", async () => {
    const name = `img-${"ab".repeat(16)}.png`;
    const missing = `img-${"cd".repeat(16)}.png`;
    const image = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255]);
    const line = (data: string, other: string) => `${JSON.stringify({ type: "user", uuid: "1", data, other })}\n`;
    const stored = line(`entire-asset:assets/${name}`, `entire-asset:assets/${missing}`);
    const files = withoutTranscript();
    const all = {
      ...files,
      [`${AT}/0/full.jsonl`]: stored,
      [`${AT}/0/content_hash.txt`]: hash(stored),
      [`${AT}/0/assets/${name}`]: image,
    };
    const transcript = await readingIn(all, (reader) => reader.transcript(ID, 0));
    expect(Buffer.from(transcript?.bytes ?? []).toString()).toBe(
      line(image.toString("base64"), `entire-asset:assets/${missing}`),
    );
    expect(transcript?.defects).toEqual([]);
  });

  test("newer fields are read, and those of the wrong kind are absent", async () => {
    const files = exampleCheckpoint(hash);
    const withFields = (path: string, more: object) =>
      JSON.stringify({ ...JSON.parse(files[`${AT}/${path}`] ?? "{}"), ...more });
    const commit = "0123456789abcdef0123456789abcdef01234567";
    const used = { input_tokens: 5, output_tokens: 7 };
    const all = {
      ...files,
      [`${AT}/metadata.json`]: withFields("metadata.json", {
        imported: true,
        commit_sha: commit,
        token_usage_version: 2,
      }),
      [`${AT}/0/metadata.json`]: withFields("0/metadata.json", { model_usage: { "fox-1": used }, commit_sha: "--all" }),
    };
    const checkpoint = await readingIn(all, (reader) => reader.find(ID));
    expect(checkpoint?.summary).toMatchObject({ imported: true, commit_sha: commit, token_usage_version: 2 });
    expect(checkpoint?.sessions[0]?.metadata.model_usage?.["fox-1"]).toMatchObject(used);
    expect(checkpoint?.sessions[0]?.metadata.commit_sha).toBeUndefined();
  });

  const prompt = (uuid: string, content: string) =>
    `${JSON.stringify({ type: "user", uuid, parentUuid: null, sessionId: "s", isSidechain: false, message: { role: "user", content } })}\n`;

  async function promptsOf(stored: string, since: number, agent = "Claude Code"): Promise<string[] | undefined> {
    const files = withoutTranscript();
    const metadata = {
      ...JSON.parse(files[`${AT}/0/metadata.json`] ?? "{}"),
      agent,
      checkpoint_transcript_start: since,
    };
    const all = {
      ...files,
      [`${AT}/0/metadata.json`]: JSON.stringify(metadata),
      [`${AT}/0/full.jsonl`]: stored,
      [`${AT}/0/content_hash.txt`]: hash(stored),
      [`${AT}/0/prompt.txt`]: "First\n\n---\n\nSecond\n\n---\n\nThird",
    };
    return readingIn(all, async (reader) => {
      const session = (await reader.find(ID))?.sessions[0];
      return session && ownPrompts(reader, ID, session);
    });
  }

  test("of prompts of the whole session, those since the transcript's start belong to the checkpoint", async () => {
    const stored = prompt("1", "First") + prompt("2", "Second") + prompt("3", "Third");
    expect(await promptsOf(stored, 1)).toEqual(["Second", "Third"]);
    // A second commit in the third turn.
    expect(await promptsOf(stored, 3)).toEqual(["Third"]);
    expect(await promptsOf("nothing that can be read\n", 1)).toEqual(["First", "Second", "Third"]);
  });

  test("where the transcript is one document, its start is counted in messages", async () => {
    const message = (id: string, type: string, content: string) => ({
      id,
      type,
      timestamp: "2026-01-01T00:00:00Z",
      content,
    });
    const messages = [
      message("1", "user", "First"),
      message("2", "gemini", "One"),
      message("3", "user", "Second"),
      message("4", "gemini", "Two"),
      message("5", "user", "Third"),
      message("6", "gemini", "Three"),
    ];
    const document = JSON.stringify({ sessionId: "s", messages }, null, 2);
    expect(await promptsOf(document, 2, "Gemini CLI")).toEqual(["Second", "Third"]);
    expect(await promptsOf(document, 4, "Gemini CLI")).toEqual(["Third"]);
  });
});
