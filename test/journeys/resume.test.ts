/** Going on with a conversation: by session, step, branch, commit and checkpoint, here and on another machine. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  BRANCH,
  commitExampleCheckpoint,
  commitFiles,
  exampleCheckpoint,
  ID,
  TRANSCRIPT,
} from "../checkpoints/branch.ts";
import { bash, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { settled } from "./commits.ts";
import { Attempts, said } from "./forks.ts";

interface Resumed {
  session: string;
  chat: { agent: string; session: string; transcript: string; command: string };
  written: string | null;
  kept: string | null;
  notes: string[];
}

const SECRET = "AKIAIOSFODNN7EXAMPLQ";

/** Two turns with a commit between them, and the id of its checkpoint. */
async function recorded(): Promise<{ attempts: Attempts; checkpoint: string }> {
  const attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn(`Write the parser with ${SECRET}`, [write("parser.ts", "1\n")], "The parser is there.");
  repository.commit("Parser");
  await agent.turn("Make it faster", [write("parser.ts", "2\n")], "It is faster.");
  const checkpoint = /Entire-Checkpoint: (\w+)/.exec(repository.git("log", "-1", "--format=%B"))?.[1] ?? "";
  // Nobody is at work here any more: a worker would make what it needs anew where a repository was moved away.
  await settled(repository);
  return { attempts, checkpoint };
}

function resume(repository: TemporaryRepository, ...args: string[]): Promise<Resumed> {
  return repository.json<Resumed>(["resume", ...args]);
}

/** A clone in another place with another home, that has fetched the checkpoints. */
function cloned(from: TemporaryRepository): TemporaryRepository {
  const clone = temporaryRepository({ empty: true });
  clone.git("remote", "add", "origin", from.path);
  clone.git("fetch", "--quiet", "origin");
  const checkpoints = from.at(".git/backtrail/private.git");
  clone.git("fetch", "--quiet", checkpoints, "refs/heads/entire/*:refs/remotes/origin/entire/*");
  clone.git("reset", "--quiet", "--hard", "origin/main");
  return clone;
}

test("here: as it is where the agent still has it, a copy where it is cut", async () => {
  const { attempts, checkpoint } = await recorded();
  using _ = attempts;
  const { repository, agent } = attempts;
  const both = [`Write the parser with ${SECRET}`, "The parser is there.", "Make it faster", "It is faster."];
  for (const target of [agent.session, agent.session.slice(0, 8), "last", "main"]) {
    const found = await resume(repository, target);
    expect({ target, ...found.chat }).toMatchObject({ target, session: agent.session });
    expect(found.written).toBeNull();
  }
  for (const target of ["1", "HEAD", checkpoint]) {
    const found = await resume(repository, target);
    expect(found.chat.session).not.toBe(agent.session);
    expect({ target, said: said(found.written ?? "") }).toEqual({ target, said: both.slice(0, 2) });
    expect(found.notes).toEqual([]);
  }
  const copy = await resume(repository, "last", "--copy");
  expect(said(copy.written ?? "")).toEqual(both);
  expect(said(agent.transcript.path)).toEqual(both);
});

test("a conversation that the agent has lost comes back under its own id", async () => {
  const { attempts } = await recorded();
  using _ = attempts;
  const { repository, agent } = attempts;
  const before = said(agent.transcript.path);
  rmSync(agent.transcript.path);
  const found = await resume(repository, agent.session);
  expect(found.chat).toMatchObject({ session: agent.session, transcript: agent.transcript.path });
  expect(said(agent.transcript.path)).toEqual(before);
  expect(readFileSync(agent.transcript.path, "utf8")).not.toContain("[Fork]");
  expect((await resume(repository, agent.session)).written).toBeNull();
});

test("a repository that was moved: a copy for the new place, the old one stays", async () => {
  const { attempts } = await recorded();
  using _ = attempts;
  const { repository, agent } = attempts;
  const moved = `${repository.path}-moved`;
  renameSync(repository.path, moved);
  const result = await repository.run(["resume", agent.session, "--json"], {
    cwd: moved,
    env: { BACKTRAIL_WORKER: "off" },
  });
  const found = JSON.parse(result.stdout) as Resumed;
  expect(basename(dirname(found.written ?? ""))).toBe(moved.replace(/[^a-zA-Z0-9]/g, "-"));
  expect(said(found.written ?? "")).toEqual(said(agent.transcript.path));
  renameSync(moved, repository.path);
});

test("on another machine, from a fetched checkpoint, by its id, its commit or the branch", async () => {
  const { attempts, checkpoint } = await recorded();
  using _ = attempts;
  using clone = cloned(attempts.repository);
  const { session } = attempts.agent;
  const first = await resume(clone, checkpoint);
  expect(first.chat).toMatchObject({ agent: "claude-code", session, command: `claude --resume ${session}` });
  expect(first.written).toStartWith(join(clone.home, ".claude/projects", clone.path.replace(/[^a-zA-Z0-9]/g, "-")));
  expect(said(first.written ?? "")).toEqual([
    "Write the parser with [secret:aws-access-key:1]",
    "The parser is there.",
  ]);
  expect(first.notes).toEqual([
    `It was written elsewhere: \`backtrail explain ${checkpoint} --conversation\` shows what the agent will read.`,
    "Secrets were taken out before it was shared: 1 placeholder stands for them.",
  ]);
  expect(readFileSync(first.written ?? "", "utf8")).not.toContain(SECRET);
  // What is there already is there.
  for (const target of [checkpoint, "HEAD", "main", "origin/main"]) {
    expect(await resume(clone, target)).toMatchObject({ chat: { session }, written: null });
  }
});

test("a newer conversation is replaced only after a question, and a copy is kept", async () => {
  const { attempts, checkpoint } = await recorded();
  using _ = attempts;
  using clone = cloned(attempts.repository);
  const { chat } = await resume(clone, checkpoint);
  const newer = `${readFileSync(chat.transcript, "utf8")}{"type":"summary","summary":"later"}\n`;
  writeFileSync(chat.transcript, newer);
  const asked = await clone.run(["resume", checkpoint]);
  expect(asked.code).toBe(2);
  expect(asked.stderr).toContain("holds a newer conversation of this session");
  expect(asked.stderr).toContain("--copy");
  expect(readFileSync(chat.transcript, "utf8")).toBe(newer);
  const copy = await resume(clone, checkpoint, "--copy");
  expect(copy.chat.session).not.toBe(chat.session);
  expect(readFileSync(chat.transcript, "utf8")).toBe(newer);
  const replaced = await resume(clone, checkpoint, "--yes");
  expect(readFileSync(chat.transcript, "utf8")).not.toBe(newer);
  expect(readFileSync(replaced.kept ?? "", "utf8")).toBe(newer);
});

test("secrets are filled in again only where this store took them out", async () => {
  const { attempts, checkpoint } = await recorded();
  using _ = attempts;
  const { repository, agent } = attempts;
  // The steps are gone, the checkpoint is not.
  const late = { minute: 400 * 24 * 60, env: { BACKTRAIL_WORKER: "off" } };
  rmSync(repository.at(".git/backtrail/steps.jsonl"));
  rmSync(agent.transcript.path);
  const own = await repository.run(["resume", checkpoint, "--json"], late);
  const found = JSON.parse(own.stdout) as Resumed;
  expect(readFileSync(found.written ?? "", "utf8")).toContain(SECRET);
  // The same placeholder in a conversation from elsewhere stays what it is.
  const hostile = TRANSCRIPT.replace("Greet the user by name", "Tell me [secret:aws-access-key:1]");
  commitFiles(repository, BRANCH, { ...example(), "a3/b2c4d5e6f7/0/full.jsonl": hostile });
  const other = await resume(repository, ID, "--session", "5f0f");
  expect(said(other.written ?? "")[0]).toBe("Tell me [secret:aws-access-key:1]");
});

test("a checkpoint with false metadata leads nowhere", async () => {
  using repository = temporaryRepository();
  const metadata = JSON.parse(example()["a3/b2c4d5e6f7/0/metadata.json"] ?? "{}");
  const lying = (more: object) => ({
    ...example(),
    "a3/b2c4d5e6f7/0/metadata.json": JSON.stringify({ ...metadata, ...more }),
  });
  // An id that would be a path, a place that is somebody else's.
  commitFiles(repository, BRANCH, lying({ session_id: "../../../../escape", transcript_path: "../../.bashrc" }));
  const found = await repository.run(["resume", ID, "--session", "..", "--json"]);
  const projects = join(repository.home, ".claude/projects");
  if (found.code === 0) expect((JSON.parse(found.stdout) as Resumed).written).toStartWith(projects);
  expect(repository.atHome.exists(".bashrc")).toBe(false);
  expect(readdirSync(repository.home).filter((name) => name.includes("escape"))).toEqual([]);
  // An agent that nobody knows, by a name that is no name.
  commitFiles(repository, BRANCH, lying({ agent: "\u001b[31mEvil; rm -rf /" }));
  const unknown = await repository.run(["resume", ID, "--session", "5f0f"]);
  expect(unknown.code).toBe(3);
  expect(unknown.stderr).not.toContain("\u001b");
  // A conversation that is no conversation.
  const garbage = { "a3/b2c4d5e6f7/0/full.jsonl": "not json\n\0\n", "a3/b2c4d5e6f7/0/full.jsonl.001": "{}\n" };
  commitFiles(repository, BRANCH, { ...example(), ...garbage });
  expect((await repository.run(["resume", ID, "--session", "5f0f"])).code).toBe(3);
  commitFiles(repository, BRANCH, { ...example(), ...garbage, "a3/b2c4d5e6f7/0/full.jsonl": { link: "/etc/passwd" } });
  expect((await repository.run(["resume", ID, "--session", "5f0f"])).code).toBe(3);
});

test("nothing is written through a link out of the agent's own directory", async () => {
  const { attempts, checkpoint } = await recorded();
  using _ = attempts;
  using clone = cloned(attempts.repository);
  const outside = join(clone.home, "outside");
  mkdirSync(outside);
  mkdirSync(join(clone.home, ".claude/projects"), { recursive: true });
  symlinkSync(outside, join(clone.home, ".claude/projects", clone.path.replace(/[^a-zA-Z0-9]/g, "-")));
  expect((await clone.run(["resume", checkpoint])).code).toBe(4);
  expect(readdirSync(outside)).toEqual([]);
});

test("an unknown target is reported with the known ones", async () => {
  const { attempts } = await recorded();
  using _ = attempts;
  const { repository } = attempts;
  const told = async (code: number, ...args: string[]) => {
    const result = await repository.run(["resume", ...args]);
    expect({ args, code: result.code }).toEqual({ args, code });
    return result.stderr;
  };
  expect(await told(2)).toContain("there is no terminal to choose a session on");
  await told(3, "nothing-like-it");
  await told(3, "0123456789ab");
  await told(2, "");
  await told(2, "last", "--agent", "nobody");
  expect(await told(3, "HEAD~1")).toContain("entire/checkpoints/v1");
});

test("a handoff to a file: the conversation, without secrets, within the limit", async () => {
  const { attempts } = await recorded();
  using _ = attempts;
  const { repository, agent } = attempts;
  await agent.begin("Now run the tests");
  await agent.act(bash("true"));
  const { handOver } = await repository.json<{ handOver: { command: string; file: string; cut: string[] } }>([
    "resume",
    agent.session,
    "--agent",
    "gemini",
  ]);
  expect(handOver.command).toBe(`gemini --prompt-interactive "$(cat ${handOver.file})"`);
  const text = readFileSync(handOver.file, "utf8");
  expect(text).not.toContain(SECRET);
  expect(text).toContain("Write the parser with [secret:aws-access-key:1]");
  expect(text).toContain("- parser.ts");
  const small = await repository.run(["resume", "last", "--agent", "codex", "--limit", "1000", "--output", "told.md"]);
  expect(small.code).toBe(0);
  expect(repository.read("told.md").length).toBeLessThanOrEqual(1_000);
  expect(small.stdout).toContain("told.md");
  expect(small.stderr).toContain("Codex is not recorded here");
});

function example(): Record<string, string> {
  return exampleCheckpoint(() => "");
}

test("handed over: files that shell commands changed are listed", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("Write and move", [write("a.txt", "a\n"), bash("echo b > b.txt && rm README.md")]);
  const here = await repository.run(["resume", "last", "--agent", "codex", "-o", "here.md"]);
  expect({ code: here.code, stderr: here.stderr }).toMatchObject({ code: 0 });
  expect(repository.read("here.md")).toContain("## Files that were changed\n\n- a.txt\n- b.txt\n- README.md\n");
});

test("rewind to a checkpoint names the command that continues its conversation", async () => {
  const { attempts, checkpoint } = await recorded();
  using _ = attempts;
  const { repository } = attempts;
  const hint = `\`backtrail resume ${checkpoint}\` continues the checkpoint's conversation`;
  expect((await repository.run(["rewind", checkpoint, "--dry-run"])).stdout).toContain(hint);
  expect((await repository.run(["rewind", checkpoint, "--yes"])).stdout).toContain(hint);
  expect((await repository.run(["rewind", checkpoint])).stderr).toContain(hint);
  expect((await repository.run(["rewind", "HEAD", "--dry-run"])).stdout).not.toContain("backtrail resume");
});

test("rewind to a checkpoint that no commit carries says so, and names the command that reads it", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  commitExampleCheckpoint(repository);
  const { code, stderr } = await repository.run(["rewind", ID]);
  expect(code).toBe(3);
  expect(stderr).toContain(`The checkpoint ${ID} is here, but no commit of this repository belongs to it.`);
  expect(stderr).toContain(`backtrail resume ${ID}`);
});

test("a checkpoint's conversation that the agent has byte for byte is resumed as it is", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  commitExampleCheckpoint(repository);
  const { session, chat, written } = await resume(repository, ID, "--session", "5f0f2b1e");
  expect(written).not.toBeNull();
  writeFileSync(chat.transcript, TRANSCRIPT);

  const again = await repository.run(["resume", ID, "--session", "5f0f2b1e"]);
  expect(again).toMatchObject({ code: 0 });
  expect(again.stdout).toContain(`claude --resume ${session}`);
  expect(again.stdout).not.toContain("put in");
  expect(readFileSync(chat.transcript, "utf8")).toBe(TRANSCRIPT);
  expect(readdirSync(dirname(chat.transcript))).toEqual([basename(chat.transcript)]);
});
