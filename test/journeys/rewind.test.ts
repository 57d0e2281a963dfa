import { expect, test } from "bun:test";
import { readdirSync, readFileSync, renameSync, statSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { bash, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { said } from "./forks.ts";

interface Restored {
  plan: {
    write: string[];
    delete: string[];
    chmod: string[];
    notUndone: { kind?: string; what: string; why: string; command?: string }[];
    conflicts: unknown[];
  };
  receipt: {
    safetyStep: string;
    written: number;
    deleted: number;
    notes: string[];
    chat: { agent: string; session: string; transcript: string; command: string } | null;
  } | null;
}

interface Step {
  id: string;
  kind: string;
  turn: number;
  session: string | null;
}

/** Three turns, each of which writes its number to `turn.txt` and a file of its own. */
async function recorded(repository: TemporaryRepository): Promise<ScriptedClaude> {
  await repository.run(["enable", "--agent", "claude-code"]);
  const agent = new ScriptedClaude(repository);
  await agent.start();
  for (const n of [1, 2, 3]) {
    await agent.turn(`Prompt ${n}`, [write("turn.txt", `${n}\n`), write(`own-${n}.txt`, "x\n")], `Answer ${n}`);
  }
  return agent;
}

function rewind(repository: TemporaryRepository, ...args: string[]): Promise<Restored> {
  return repository.json<Restored>(["rewind", ...args, "--yes"]);
}

async function steps(repository: TemporaryRepository): Promise<Step[]> {
  return (await repository.json<{ steps: Step[] }>(["log", "--limit", "0"])).steps;
}

test("turn by turn back, and turn by turn forward again", async () => {
  using repository = temporaryRepository();
  await recorded(repository);
  const seen: string[] = [];
  const look = () => seen.push(repository.exists("turn.txt") ? repository.read("turn.txt").trim() : "-");
  for (let i = 0; i < 3; i++) {
    await rewind(repository, "1");
    look();
  }
  const tooFar = await repository.run(["rewind", "1", "--yes"]);
  expect([tooFar.code, tooFar.stderr]).toEqual([3, expect.stringContaining("Nothing to rewind")]);
  for (let i = 0; i < 3; i++) {
    await repository.json(["redo", "--yes"]);
    look();
  }
  expect(seen).toEqual(["2", "1", "-", "1", "2", "3"]);
  const nothing = await repository.run(["redo", "--yes"]);
  expect([nothing.code, nothing.stderr]).toEqual([3, expect.stringContaining("Nothing left to redo.")]);
});

test("two turns at once, and numbers count along the way that led here", async () => {
  using repository = temporaryRepository();
  await recorded(repository);
  const { plan, receipt } = await rewind(repository, "2");
  expect(plan.write).toEqual(["turn.txt"]);
  expect(plan.delete).toEqual(["own-2.txt", "own-3.txt"]);
  const fork = new ScriptedClaude(repository, receipt?.chat?.session);
  await fork.turn("Another second", [write("turn.txt", "2b\n")]);
  await rewind(repository, "1");
  expect(repository.read("turn.txt")).toBe("1\n");
  // The turn before that is the first one: the second and third were taken back.
  await rewind(repository, "1");
  expect(repository.exists("turn.txt")).toBe(false);
});

test("the conversation's copy ends where the files do, and the original stays", async () => {
  using repository = temporaryRepository();
  const agent = await recorded(repository);
  const original = readFileSync(agent.transcript.path, "utf8");
  const { receipt } = await rewind(repository, "1");
  const chat = receipt?.chat;
  expect(chat).toMatchObject({ agent: "claude-code", command: `claude --resume ${chat?.session}` });
  expect(chat?.session).not.toBe(agent.session);
  expect(dirname(chat?.transcript ?? "")).toBe(dirname(agent.transcript.path));
  expect(statSync(chat?.transcript ?? "").mode & 0o777).toBe(0o600);
  expect(said(chat?.transcript ?? "")).toEqual(["Prompt 1", "Answer 1", "Prompt 2", "Answer 2"]);
  expect(readFileSync(chat?.transcript ?? "", "utf8")).toContain('"customTitle":"[Fork] Prompt 1"');
  expect(readFileSync(agent.transcript.path, "utf8")).toBe(original);
  const redone = await repository.json<Restored>(["redo", "--yes"]);
  expect(redone.receipt?.chat).toMatchObject({ session: agent.session, transcript: agent.transcript.path });
});

test("what the agent wrote after it said that the turn was over belongs to the turn", async () => {
  using repository = temporaryRepository();
  const agent = await recorded(repository);
  agent.transcript.assistant([{ type: "text", text: "A late word" }]);
  const newest = (await steps(repository)).find(({ kind }) => kind === "turn-end");
  repository.write("turn.txt", "by hand\n");
  const { receipt } = await rewind(repository, newest?.id ?? "");
  expect(said(receipt?.chat?.transcript ?? "").slice(-2)).toEqual(["Answer 3", "A late word"]);

  await agent.turn("Prompt 4", []);
  const again = await rewind(repository, newest?.id ?? "", "--chat-only");
  expect(said(again.receipt?.chat?.transcript ?? "").at(-1)).toBe("A late word");
});

test("before the first turn there is no conversation yet", async () => {
  using repository = temporaryRepository();
  await recorded(repository);
  const { receipt } = await rewind(repository, "3");
  expect(receipt?.chat).toBeNull();
  expect(receipt?.notes).toEqual(["This is before the first prompt of the conversation: start a new session."]);
  expect(repository.exists("turn.txt")).toBe(false);
});

test("only the files, or only the conversation", async () => {
  using repository = temporaryRepository();
  await recorded(repository);
  const chatOnly = await rewind(repository, "1", "--chat-only");
  expect(chatOnly.receipt?.chat).not.toBeNull();
  expect(repository.read("turn.txt")).toBe("3\n");
  const codeOnly = await rewind(repository, "1", "--code-only");
  expect(codeOnly.receipt?.chat).toBeNull();
  expect(repository.read("turn.txt")).toBe("2\n");
});

test("without a transcript, only the files are rewound, and the plan says so", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  await repository.run(["save", "here"]);
  repository.write("README.md", "changed\n");
  const { receipt } = await rewind(repository, "here");
  expect(repository.read("README.md")).toBe("# Example\n");
  expect(receipt).toMatchObject({
    chat: null,
    notes: ["Chat rewind unavailable (no transcript found)"],
  });
});

test("a conversation that has no place to be copied to does not hold up the files", async () => {
  using repository = temporaryRepository();
  const agent = await recorded(repository);
  const folder = dirname(agent.transcript.path);
  const elsewhere = `${repository.home}/elsewhere`;
  renameSync(folder, elsewhere);
  symlinkSync(elsewhere, folder);
  const { receipt } = await rewind(repository, "1");
  expect(repository.read("turn.txt")).toBe("2\n");
  expect(receipt?.chat).toBeNull();
  expect(receipt?.notes.join()).toContain("outside the agent's directory");
  expect(readdirSync(elsewhere)).toHaveLength(1);
});

test("in a partial clone whose remote is gone, the missing object is named, and nothing is changed", async () => {
  using repository = temporaryRepository();
  for (const text of ["one\n", "two\n"]) {
    repository.write("a.txt", text);
    repository.commit(text);
  }
  repository.git("config", "uploadpack.allowFilter", "true");
  const clone = `${repository.home}/clone`;
  repository.git("clone", "--quiet", "--filter=blob:none", `file://${repository.path}`, clone);
  const at = { cwd: clone };
  await repository.run(["enable", "--agent", "claude-code"], at);
  renameSync(repository.at(".git"), repository.at("gone"));
  const { code, stderr } = await repository.run(["rewind", "HEAD~1", "--yes"], at);
  renameSync(repository.at("gone"), repository.at(".git"));
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: git cat-file failed: .*promisor remote/s)]);
  expect(readFileSync(`${clone}/a.txt`, "utf8")).toBe("two\n");
});

test("the plan says what it can't undo", async () => {
  using repository = temporaryRepository();
  const agent = await recorded(repository);
  const outside = `../outside-${agent.session}.txt`;
  await agent.turn("Reach out", [
    write(outside, "elsewhere\n"),
    bash("git add -A && git commit -q -m 'by the agent'"),
    bash("true || npm install left-pad"),
    bash("true || curl -X POST http://127.0.0.1/"),
    bash("ls"),
  ]);
  const head = repository.git("rev-parse", "HEAD");
  const { plan } = await repository.json<Restored>(["rewind", "1", "--dry-run"]);
  expect(plan.notUndone).toEqual([
    {
      kind: "commits",
      what: expect.stringMatching(/^1 commit since /),
      why: expect.stringContaining("the branch are not changed: "),
      command: "git add -A && git commit -q -m 'by the agent'",
    },
    { kind: "outside-file", what: repository.at(outside), why: expect.stringContaining("outside"), command: "Write" },
    {
      kind: "command",
      what: "`true || npm install left-pad`",
      why: expect.stringContaining("packages"),
      command: "true || npm install left-pad",
    },
    {
      kind: "command",
      what: "`true || curl -X POST http://127.0.0.1/`",
      why: expect.stringContaining("contacted another machine"),
      command: "true || curl -X POST http://127.0.0.1/",
    },
  ]);
  await rewind(repository, "1");
  expect(repository.git("rev-parse", "HEAD")).toBe(head);
  expect(repository.read("turn.txt")).toBe("3\n");
});
