/** A person looks at what they did with Backtrail and takes parts of it back. */
import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { edit, ScriptedClaude, Story, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { openedOnLines } from "./lines.ts";

const env = { BACKTRAIL_WORKER: "off" };

interface Operation {
  id: string;
  kind: string;
  description: string;
  takesBack: string | null;
  takenBackBy: string | null;
  safetyStep: string | null;
  fork: string | null;
}

interface Turn {
  prompt: string;
}

interface Restored {
  plan: {
    write: string[];
    delete: string[];
    conflicts: { path: string; why: string }[];
    reverses: { kind: string; bringsBack: Turn[]; since: Turn[]; keepsSince: boolean };
  };
  receipt: { safetyStep: string } | null;
}

/** Two turns, each in lines of its own. */
async function worked(repository: TemporaryRepository): Promise<ScriptedClaude> {
  const claude = await openedOnLines(repository);
  await claude.turn("Name the first line", [edit("app.txt", "line 1\n", "first\n")]);
  claude.minute = 3;
  await claude.turn("Name the sixth line", [edit("app.txt", "line 6\n", "sixth\n"), write("two.txt", "2\n")]);
  return claude;
}

async function operations(repository: TemporaryRepository): Promise<Operation[]> {
  return (await repository.json<{ operations: Operation[] }>(["ops"], { env })).operations;
}

function linesOf(repository: TemporaryRepository): string[] {
  return repository
    .read("app.txt")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("line "));
}

test("operations are listed and undone, as a person sees it", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const story = new Story(repository);
  const at = { minute: 7, env };
  await story.run(["ops"], at);
  await story.run(["undo", "2", "--yes"], { ...at, minute: 5 });
  await story.run(["save", "before", "the", "rewind"], { ...at, minute: 6 });
  await story.run(["rewind", "1", "--yes", "--code-only"], at);
  const other = new ScriptedClaude(repository, "99999999-2222-4333-8444-555555555555");
  other.minute = 8;
  await other.start();
  await other.turn("Name the last line", [edit("app.txt", "line 12\n", "twelfth\n")]);
  await story.run(["log"], { ...at, minute: 9 });
  await story.run(["ops"], { ...at, minute: 9 });
  await story.run(["redo", "--dry-run"], { ...at, minute: 9 });
  await story.run(["ops", "undo", "--yes"], { ...at, minute: 9 });
  expect([linesOf(repository), repository.exists("two.txt")]).toEqual([["sixth", "twelfth"], true]);
  await story.run(["ops"], { ...at, minute: 10 });
  await story.run(["log"], { ...at, minute: 10 });
  await story.run(["ops", "undo", "nowhere"], at);
  expect(story.toString()).toMatchSnapshot();
});

test("a rewind in the middle is undone by a merge, and that can be undone as well", async () => {
  using repository = temporaryRepository();
  const claude = await worked(repository);
  await repository.run(["rewind", "1", "--yes", "--code-only"], { env });
  await claude.turn("Name the last line", [edit("app.txt", "line 12\n", "twelfth\n")]);
  repository.write("mine.txt", "mine\n");
  const [rewind] = await operations(repository);
  const id = rewind?.id ?? "";

  const { plan } = await repository.json<Restored>(["ops", "undo", id, "--yes"], { env });
  expect(plan.reverses).toMatchObject({
    kind: "rewind",
    bringsBack: [{ prompt: "Name the sixth line" }],
    since: [{ prompt: "Name the last line" }],
    keepsSince: true,
  });
  expect([linesOf(repository), repository.read("mine.txt")]).toEqual([["first", "sixth", "twelfth"], "mine\n"]);
  // All three turns are counted again.
  expect((await repository.run(["undo", "3", "--dry-run"], { env })).stdout).toContain('"Name the first line"');

  const again = await repository.run(["ops", "undo", id, "--yes"], { env });
  expect([again.code, again.stderr]).toEqual([3, expect.stringContaining(`The rewind ${id} is already undone.`)]);

  await repository.json(["ops", "undo", "--yes"], { env });
  expect([linesOf(repository), repository.exists("two.txt")]).toEqual([["first", "twelfth"], false]);
  const [second, first, original] = await operations(repository);
  expect([second?.takesBack, first?.takenBackBy, original?.takenBackBy]).toEqual([first?.id, second?.id, null]);
  // The rewind stands again, so `redo` takes it back: to the state before, without the turn that came since.
  const redone = await repository.json<Restored>(["redo", "--yes"], { env });
  expect(redone.plan.reverses).toMatchObject({ since: [{ prompt: "Name the last line" }], keepsSince: false });
  expect(linesOf(repository)).toEqual(["first", "sixth"]);
  const log = (await repository.run(["log"], { env })).stdout;
  expect(log).toMatch(/rewound\n│ Name the last line\n/);
  expect(log).toMatch(/@1 .*\n│ Name the sixth line\n/);
});

test("an older undo goes back alone; lines that were changed since are a conflict", async () => {
  using repository = temporaryRepository();
  const claude = await worked(repository);
  await repository.json(["undo", "2", "--yes"], { env });
  await repository.json(["undo", "1", "--yes"], { env });
  const [, older] = await operations(repository);
  await repository.json(["ops", "undo", older?.id ?? "", "--yes"], { env });
  expect([linesOf(repository), repository.exists("two.txt")]).toEqual([["first"], false]);

  await claude.turn("Rename the sixth line", [edit("app.txt", "line 6\n", "VI\n")]);
  const newer = (await operations(repository)).find(({ description }) => description.includes("sixth"));
  const before = repository.read("app.txt");
  const refused = await repository.run(["ops", "undo", newer?.id ?? "", "--yes", "--json"], { env });
  expect(refused.code).toBe(4);
  expect(JSON.parse(refused.stdout).plan.conflicts).toMatchObject([{ path: "app.txt" }]);
  expect(repository.read("app.txt")).toBe(before);
  await repository.json(["ops", "undo", newer?.id ?? "", "--yes", "--conflicts=markers"], { env });
  expect(repository.read("app.txt")).toContain("<<<<<<< now\nVI\n=======\nsixth\n>>>>>>> before-the-undo\n");
});

test("a dropped fork comes back with its files, commits, branch and conversation", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const { fork } = await repository.json<{ fork: { name: string; directory: string; branch: string } }>(["fork", "1"]);
  const git = (...args: string[]) => repository.git("-C", fork.directory, ...args);
  writeFileSync(join(fork.directory, "committed.txt"), "committed\n");
  git("add", "committed.txt");
  git("commit", "-qm", "In the fork");
  const tip = git("rev-parse", "HEAD");
  writeFileSync(join(fork.directory, "open.txt"), "not committed\n");
  const status = git("status", "--porcelain");
  await repository.json(["fork", "drop", fork.name, "--yes"], { env });
  expect(existsSync(fork.directory)).toBe(false);

  const dry = await repository.run(["ops", "undo", "--dry-run"], { env });
  expect(dry.stdout).toContain(`Dropped the fork ${fork.name}`);
  const { receipt } = await repository.json<{ receipt: { fork: { name: string; chat: unknown } } }>(
    ["ops", "undo", "--yes"],
    { env },
  );
  expect(receipt.fork).toMatchObject({ name: fork.name, directory: fork.directory, chat: { agent: "claude-code" } });
  expect(git("rev-parse", "HEAD")).toBe(tip);
  expect(git("symbolic-ref", "--short", "HEAD")).toBe(fork.branch);
  expect(git("status", "--porcelain")).toBe(status);
  // It is compared with what it began with, not with what it was when it was dropped.
  await repository.json(["fork", "take", fork.name, "--yes"], { env });
  expect([repository.read("open.txt"), repository.read("committed.txt")]).toEqual(["not committed\n", "committed\n"]);
  const [take, redo, drop] = await operations(repository);
  expect([take, redo, drop]).toMatchObject([
    { kind: "take", fork: fork.name },
    { kind: "redo", takesBack: drop?.id },
    { kind: "drop", takenBackBy: redo?.id },
  ]);
  // Nothing that was said is in the list of operations.
  expect(repository.read(".git/backtrail/worktrees/main/operations.jsonl")).not.toContain("Name the");
});

test("a branch alone comes back as it was", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const { fork } = await repository.json<{ fork: { name: string; branch: string } }>(["fork", "1", "--branch-only"]);
  const tip = repository.git("rev-parse", fork.branch);
  await repository.json(["fork", "drop", fork.name, "--yes"], { env });
  await repository.json(["ops", "undo", "--yes"], { env });
  expect(repository.git("rev-parse", fork.branch)).toBe(tip);
  expect((await repository.run(["fork", "list"], { env })).stdout).toContain(fork.name);
});

test("a saved name goes to the step that had it before, and back", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  type Saved = { step: { id: string }; previous: { id: string } | null };
  const first = await repository.json<Saved>(["save", "draft"], { env });
  repository.write("mine.txt", "mine\n");
  const second = await repository.json<Saved>(["save", "draft"], { env });
  expect([first.previous, second.previous?.id]).toEqual([null, first.step.id]);
  const meant = async () => (await repository.json<{ step: { id: string } }>(["show", "draft"], { env })).step.id;
  await repository.json(["ops", "undo", second.step.id, "--yes"], { env });
  expect(await meant()).toBe(first.step.id);
  await repository.json(["ops", "undo", "--yes"], { env });
  expect(await meant()).toBe(second.step.id);
  // What was saved is still there by its id, whatever it is called.
  expect((await repository.run(["rewind", first.step.id, "--dry-run"], { env })).code).toBe(0);
});

test("save says how to return by the name, as a shell takes it", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  for (const [name, word] of [
    ["draft", "draft"],
    ["it's a draft", "'it'\\''s a draft'"],
  ] as const) {
    const { stderr } = await repository.run(["save", name], { env });
    expect(stderr).toContain(`Return to it with \`backtrail rewind ${word}\`.`);
    expect((await repository.run(["rewind", name, "--dry-run"], { env })).code).toBe(0);
  }
  const { stderr } = await repository.run(["save", "--", "-draft"], { env });
  expect(stderr).toMatch(/Return to it with `backtrail rewind [k-z]{12}`\./);
});

test("names that mean something else are refused", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  for (const name of ["3", "@2", "HEAD", "last", "prev", "last-green", "main", "11111111"]) {
    const { code, stderr } = await repository.run(["save", name], { env });
    expect([name, code, stderr]).toEqual([name, 2, expect.stringContaining(`"${name}" can't be a name`)]);
  }
});

test("safety steps are in `ops` and not in `log`, and their ids are targets", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const { receipt } = await repository.json<Restored>(["rewind", "1", "--yes"], { env });
  const safety = receipt?.safetyStep ?? "";
  const ids = async (...args: string[]) =>
    (await repository.json<{ steps: { id: string }[] }>(["log", ...args], { env })).steps.map(({ id }) => id);
  expect(await ids()).not.toContain(safety);
  expect(await ids("--limit", "1")).toHaveLength(2);
  expect(await ids("--all")).toContain(safety);
  expect(await ids("--kind", "safety")).toEqual([safety]);
  expect((await repository.run(["log"], { env })).stdout).not.toContain(safety);
  expect((await operations(repository))[0]).toMatchObject({ kind: "rewind", safetyStep: safety });
  await repository.json(["rewind", safety, "--yes"], { env });
  expect(linesOf(repository)).toEqual(["first", "sixth"]);
});

test("`rewind last` leaves no copies of the conversation", async () => {
  using repository = temporaryRepository();
  await worked(repository);
  const chat = async (...args: string[]) =>
    (await repository.json<{ receipt: { chat: { session: string } } }>([...args, "--yes"], { env })).receipt.chat;
  const nothing = await repository.run(["rewind", "last", "--yes"], { env });
  expect([nothing.code, nothing.stderr]).toEqual([3, "Nothing to do: the files are already in this state.\n"]);
  repository.write("app.txt", "mine\n");
  expect((await chat("rewind", "last")).session).toBe("11111111-2222-4333-8444-555555555555");
  expect(linesOf(repository)).toEqual(["first", "sixth"]);
  const copy = await chat("rewind", "1");
  expect(copy.session).not.toBe("11111111-2222-4333-8444-555555555555");
  // The copy ends there, and nobody has said anything in it.
  expect((await repository.run(["rewind", "last", "--yes"], { env })).code).toBe(3);
  repository.write("app.txt", "mine\n");
  expect(await chat("rewind", "last")).toEqual(copy);
});

test("a turn without changes is not undone, and the newest with changes is named", async () => {
  using repository = temporaryRepository();
  const claude = await worked(repository);
  await claude.turn("Explain it", []);
  const { code, stderr } = await repository.run(["undo", "last", "--yes"], { env });
  expect(code).toBe(3);
  expect(stderr).toMatch(
    /^Nothing to undo: this turn changed no files\.\nThe newest turn with changes is @2, "Name the sixth line": `backtrail undo [k-z]{12}`\.\n$/,
  );
  const looked = await repository.run(["undo", "last", "--dry-run"], { env });
  expect([looked.code, looked.stderr]).toEqual([0, stderr]);
});

test("--paths is relative to the directory one is in", async () => {
  using repository = temporaryRepository();
  const claude = await worked(repository);
  await claude.turn("Add files", [write("src/lib/a.txt", "a\n"), write("lib/a.txt", "a\n")]);
  const cwd = repository.at("src");
  const paths = async (pattern: string) =>
    (await repository.json<Restored>(["rewind", "1", "--paths", pattern, "--dry-run"], { env, cwd })).plan.delete;
  expect(await paths("lib/**")).toEqual(["src/lib/a.txt"]);
  expect(await paths("a.txt")).toEqual(["src/lib/a.txt"]);
  expect(await paths("../lib")).toEqual(["lib/a.txt"]);
  expect(await paths("/lib/a.txt")).toEqual(["lib/a.txt"]);
  const { files } = await repository.json<{ files: { path: string }[] }>(["diff", "1", "--paths", "lib"], { env, cwd });
  expect(files.map(({ path }) => path)).toEqual(["src/lib/a.txt"]);
  const outside = await repository.run(["rewind", "1", "--paths", "../../x", "--dry-run"], { env, cwd });
  expect(outside).toMatchObject({ code: 2, stderr: expect.stringContaining("is outside of") });
});

test("git's garbage collection takes nothing that a restore needs which kept later work", async () => {
  using repository = temporaryRepository();
  const claude = await worked(repository);
  expect((await repository.run(["undo", "2", "--yes"], { env })).code).toBe(0);
  // No step holds the files as they are between the undo and this line.
  repository.write("app.txt", repository.read("app.txt").replace("line 11\n", "mine\n"));
  expect((await repository.run(["redo", "--yes"], { env })).code).toBe(0);
  expect(linesOf(repository)).toEqual(["first", "sixth", "mine"]);
  claude.minute = 5;
  await claude.turn("Name the third line", [edit("app.txt", "line 3\n", "third\n")]);
  repository.git("gc", "-q", "--prune=now");
  const redo = (await operations(repository)).find(({ kind }) => kind === "redo");
  const plan = await repository.run(["rewind", redo?.safetyStep ?? "", "--dry-run"], { env });
  expect([plan.stderr, plan.code]).toEqual(["", 0]);
  const reversed = await repository.run(["ops", "undo", redo?.id ?? "", "--yes"], { env });
  expect([reversed.stderr, reversed.code]).toEqual([expect.any(String), 0]);
  expect(linesOf(repository)).toEqual(["third", "sixth", "mine"]);
});
