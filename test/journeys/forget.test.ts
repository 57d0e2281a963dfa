/** Conversations that are to be forgotten are gone from everything that was recorded, and the output says where they still are. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { checkpointsOf, inCheckpoint, settled, show } from "./commits.ts";

const env = { BACKTRAIL_WORKER: "off" };
const SECRET = `ghp_${"Zq7wErTy9uIoPaSdFgHj".repeat(2).slice(0, 36)}`;

interface Told {
  plan: { sessions: { session: string; steps: string[] }[]; steps: string[]; checkpoints: number };
  related: string[];
  done: boolean;
}

/** Two sessions, each with a commit; the first one talks of the falcon and of a token. */
async function worked(): Promise<
  { repository: TemporaryRepository; first: ScriptedClaude; second: ScriptedClaude } & Disposable
> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const talk = async (prompt: string, file: string) => {
    const claude = new ScriptedClaude(repository);
    await claude.start();
    await claude.turn(prompt, [write(file, `${file}\n`)], `Done with ${prompt}`);
    await claude.end();
    repository.commit(file);
    await settled(repository);
    return claude;
  };
  const first = await talk(`Build project falcon with ${SECRET}`, "a.txt");
  const second = await talk("Write the manual", "b.txt");
  return { repository, first, second, [Symbol.dispose]: () => repository.remove() };
}

/** Everything that Backtrail keeps, as one text: its files, and all objects that a ref leads to. */
function everything(repository: TemporaryRepository): string {
  const parts: string[] = [];
  const look = (directory: string) => {
    if (!existsSync(directory)) return;
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      if (statSync(path).isDirectory()) look(path);
      else parts.push(readFileSync(path, "latin1"));
    }
  };
  look(repository.at(".git/backtrail"));
  look(join(repository.home, "backtrail"));
  // Without the history of the checkpoints' branch, which keeps what its commits held.
  const refs = repository.git("for-each-ref", "--format=%(refname)", "refs/backtrail", "refs/heads/entire").split("\n");
  for (const ref of refs.filter((name) => name !== "")) {
    const listed = repository.git("ls-tree", "-r", "--format=%(objectname)", ref).split("\n");
    const input = `${listed.join("\n")}\n`;
    parts.push(execFileSync("git", ["cat-file", "--batch"], { cwd: repository.path, input }).toString("latin1"));
  }
  return parts.join("\n");
}

test("a session is forgotten everywhere, and the other one stays", async () => {
  using place = await worked();
  const { repository, first } = place;
  expect(everything(repository)).toContain("falcon");
  const dry = await repository.json<Told>(["forget", first.session, "--dry-run"], { env });
  expect(dry).toMatchObject({ done: false, plan: { checkpoints: 1, sessions: [{ session: first.session }] } });
  expect(dry.plan.sessions[0]?.steps.length).toBeGreaterThan(1);
  expect(everything(repository)).toContain("falcon");

  const told = await repository.run(["forget", first.session.slice(0, 8), "--yes"], { env });
  expect(told).toMatchObject({ code: 0 });
  expect(told.stderr).toContain("Delete it now with:\n  git gc --prune=now\n");
  expect(told.stderr).toContain("The agent's own transcript is still there");
  const left = everything(repository);
  for (const word of ["falcon", SECRET, "Done with Build"]) expect(left).not.toContain(word);
  expect(left).toContain("Write the manual");
  expect((await repository.run(["doctor", "--check"], { env })).code).toBe(0);
  // Its commit still leads to a checkpoint that can be read, without words; the other one's says what it said.
  const [forgotten = "", kept = ""] = ["HEAD~1", "HEAD"].flatMap((commit) => checkpointsOf(repository, commit));
  const explained = await repository.run(["explain", forgotten], { env });
  expect([explained.code, explained.stdout]).toEqual([
    0,
    expect.stringContaining("was removed with `backtrail forget`"),
  ]);
  expect((await repository.run(["explain", kept], { env })).stdout).toContain("Write the manual");
  // Other tools find every file that the format has, with a transcript that says what became of it.
  const removed = "This conversation was removed with `backtrail forget`.";
  expect(JSON.parse(inCheckpoint(repository, forgotten, "0/full.jsonl"))).toMatchObject({ message: removed });
  const summary = JSON.parse(inCheckpoint(repository, forgotten, "metadata.json"));
  for (const path of Object.values<string>(summary.sessions[0])) show(repository, path.slice(1));
  expect((await repository.run(["explain", forgotten, "--conversation"], { env })).stdout).toContain(removed);
  expect(await repository.run(["resume", forgotten], { env })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("was removed"),
  });
  expect((await repository.run(["forget", first.session, "--yes"], { env })).code).toBe(3);
  repository.git("fsck", "--strict", "--no-dangling");
});

test("handoffs of it are deleted, and forks made from it are named", async () => {
  using place = await worked();
  const { repository, first } = place;
  await repository.json(["resume", first.session, "--agent", "codex"], { env });
  const { plan } = await repository.json<Told>(["forget", first.session, "--dry-run"], { env });
  const [step = ""] = plan.sessions[0]?.steps ?? [];
  await repository.json(["fork", step, "--agent", "codex", "--branch", "beside"], { env });
  await repository.json(["fork", step, "--branch", "again"], { env });
  expect(readdirSync(repository.at(".git/backtrail/hand-over"))).toHaveLength(2);
  const told = await repository.run(["forget", first.session, "--yes"], { env });
  expect(told.stdout).toContain("The fork beside was made from it");
  expect(told.stdout).toContain("The fork again was made from it");
  expect(everything(repository)).not.toContain("falcon");
  expect((await repository.run(["fork", "list"], { env })).code).toBe(0);
});

test("with --conversation-only the code can still be gone back to", async () => {
  using place = await worked();
  const { repository, first } = place;
  const { plan } = await repository.json<Told>(["forget", first.session, "--conversation-only", "--yes"], { env });
  const left = everything(repository);
  for (const word of ["falcon", SECRET]) expect(left).not.toContain(word);
  const [newest = ""] = plan.sessions[0]?.steps ?? [];
  const oldest = plan.sessions[0]?.steps.at(-1) ?? "";
  await repository.json(["rewind", oldest, "--yes", "--code-only"], { env });
  expect(repository.exists("a.txt")).toBe(false);
  await repository.json(["rewind", newest, "--yes", "--code-only"], { env });
  expect(repository.read("a.txt")).toBe("a.txt\n");
  expect((await repository.run(["doctor", "--check"], { env })).code).toBe(0);
});

test("by something that was said, whoever said it", async () => {
  using place = await worked();
  const { repository, first } = place;
  const { plan } = await repository.json<Told>(["forget", "PROJECT FALCON", "--yes"], { env });
  expect(plan.sessions.map(({ session }) => session)).toEqual([first.session]);
  expect(everything(repository)).not.toContain("falcon");
  const nothing = await repository.run(["forget", "never said", "--yes"], { env });
  expect(nothing).toMatchObject({ code: 3, stdout: "" });
  expect((await repository.run(["forget", "ab"], { env })).code).toBe(2);
});

test("a single step, files that a restore kept, and lines of the log", async () => {
  using place = await worked();
  const { repository, first, second } = place;
  const { steps } = await repository.json<{ steps: { id: string; session: string | null }[] }>(["log", "--all"], {
    env,
  });
  const one = steps.find(({ session }) => session === second.session)?.id ?? "";
  expect(await repository.json<Told>(["forget", one, "--yes"], { env })).toMatchObject({ plan: { steps: [one] } });
  const after = await repository.json<{ steps: { id: string }[] }>(["log", "--all"], { env });
  expect(after.steps.map(({ id }) => id)).toEqual(steps.map(({ id }) => id).filter((id) => id !== one));

  const store = repository.at(".git/backtrail");
  const line = {
    v: 1,
    time: new Date().toISOString(),
    level: "error",
    where: "hook",
    message: `Session ${first.session} stayed locked.`,
  };
  writeFileSync(
    join(store, "log.jsonl"),
    `${JSON.stringify(line)}\n${JSON.stringify({ ...line, message: "other" })}\n`,
  );
  const record = {
    v: 1,
    id: "klmnopqrstuv",
    kind: "rewind",
    time: line.time,
    target: { step: "x" },
    safetyStep: "y",
    session: { agent: "claude-code", id: first.session, transcript: "" },
    fork: { agent: "claude-code", id: "f0f0" },
    head: null,
    takesBack: null,
    paths: null,
    scope: "all",
  };
  writeFileSync(join(store, "worktrees/main/restores.jsonl"), `${JSON.stringify(record)}\n`);
  const kept = join(store, "worktrees/main/kept/klmnopqrstuv");
  mkdirSync(kept, { recursive: true });
  writeFileSync(join(kept, "a.txt"), "kept\n");
  const run = repository.write(`.aiwr/logs/2026-01-05/${first.session}.jsonl`, '{"type":"aiwr_start"}\n');
  const told = await repository.json<Told>(["forget", first.session, "--yes"], { env });
  expect(existsSync(run)).toBe(false);
  expect(told.related).toEqual(["f0f0"]);
  expect(existsSync(kept)).toBe(false);
  const log = readFileSync(join(store, "log.jsonl"), "utf8");
  expect([log.includes(first.session), log.includes("other")]).toEqual([false, true]);
});

test("the conversation of a fork, a copy of the one that is forgotten, is named", async () => {
  using here = await worked();
  const { repository, second } = here;
  const directory = join(repository.home, "copy");
  expect((await repository.run(["fork", "last", "--directory", directory], { env })).code).toBe(0);
  const { forks } = await repository.json<{ forks: { chat: { session: string } }[] }>(["fork", "list"]);
  const copy = forks[0]?.chat.session ?? "";
  const told = await repository.run(["forget", second.session, "--dry-run"], { env });
  expect(told.stdout).toContain(`A fork, session ${copy.slice(0, 8)}, has the same beginning.`);
});
