/** A person asks who wrote a line that a restore or a taken fork brought back. */
import { expect, test } from "bun:test";
import { edit, ScriptedClaude, type TemporaryRepository, temporaryRepository, write } from "../support/index.ts";
import { gitWith, settled } from "./commits.ts";
import { Attempts } from "./forks.ts";

const env = { BACKTRAIL_WORKER: "off" };
const LINES = ["one", "two", "three", "four", "five", "six"];

/** The turn behind each line of a file; null for a person. */
async function turnsOf(repository: TemporaryRepository, path: string): Promise<(number | null)[]> {
  const { lines } = await repository.json<{ lines: { turn: number | null }[] }>(["blame", path], { env });
  return lines.map(({ turn }) => turn);
}

/** Turn 1 writes six lines, turn 2 changes the second, turn 3 the last. */
async function threeTurns(): Promise<TemporaryRepository> {
  const repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Count to six", [write("count.txt", `${LINES.join("\n")}\n`)]);
  await claude.turn("Shout two", [edit("count.txt", "two", "TWO"), write("two.txt", "2\n")]);
  await claude.turn("Shout six", [edit("count.txt", "six", "SIX")]);
  return repository;
}

test("after undo, the lines that came back belong to the turn that wrote them", async () => {
  using repository = await threeTurns();
  const { steps } = await repository.json<{ steps: { id: string; kind: string; turn: number }[] }>(["log"], { env });
  const second = steps.find(({ kind, turn }) => kind === "turn-end" && turn === 2)?.id ?? "";
  expect((await repository.run(["undo", second, "--yes"], { env })).code).toBe(0);
  expect(await turnsOf(repository, "count.txt")).toEqual([1, 1, 1, 1, 1, 3]);

  repository.write("count.txt", `${repository.read("count.txt")}seven\n`);
  expect(await turnsOf(repository, "count.txt")).toEqual([1, 1, 1, 1, 1, 3, null]);
  expect((await repository.run(["redo", "--yes"], { env })).code).toBe(0);
  expect(await turnsOf(repository, "count.txt")).toEqual([1, 2, 1, 1, 1, 3, null]);
  expect(await turnsOf(repository, "two.txt")).toEqual([2]);
});

test("after rewind and redo, every line keeps its turn, in the commit as well", async () => {
  using repository = await threeTurns();
  await repository.run(["rewind", "2", "--code-only", "--yes"], { env });
  expect(await turnsOf(repository, "count.txt")).toEqual([1, 1, 1, 1, 1, 1]);
  await repository.run(["redo", "--yes"], { env });
  expect(await turnsOf(repository, "count.txt")).toEqual([1, 2, 1, 1, 1, 3]);
  expect(await turnsOf(repository, "two.txt")).toEqual([2]);

  commitNow(repository);
  await settled(repository);
  expect(await turnsOf(repository, "count.txt")).toEqual([1, 2, 1, 1, 1, 3]);
  expect(await turnsOf(repository, "two.txt")).toEqual([2]);
});

test("after a redo across another session's turn, a file that came back belongs to its turn in the commit", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.turn("Add one", [write("one.txt", "1\n")]);
  await claude.turn("Add two", [write("two.txt", "2\n")]);
  await repository.run(["rewind", "1", "--code-only", "--yes"], { env });
  await new ScriptedClaude(repository).turn("Add three", [write("three.txt", "3\n")]);
  await repository.run(["redo", "--yes"], { env });
  repository.write("two.txt", "2\nmine\n");

  commitNow(repository);
  await settled(repository);
  const { stdout } = await repository.run(["explain"], { env });
  expect(stdout).toContain("lines       2 of 3 by this session (67 %)");
  expect(await turnsOf(repository, "two.txt")).toEqual([2, null]);
});

test("lines of a fork that was taken belong to the turn in the fork", async () => {
  using attempts = await Attempts.begin();
  const { repository, agent } = attempts;
  await agent.turn("Add a", [write("a.txt", "a\n")]);
  await agent.turn("Add b", [write("b.txt", "b\n")]);
  const { fork } = await attempts.fork("1");
  await attempts.turnIn(fork, "Add c", "c.txt", "one\ntwo\n");
  expect((await repository.run(["fork", "take", fork.name, "--yes"], { env })).code).toBe(0);

  const session = fork.chat?.session ?? "";
  const writtenInFork = async () => {
    const { lines } = await repository.json<{ lines: { session: string; prompt: string }[] }>(["blame", "c.txt"], {
      env,
    });
    return lines.map((line) => [line.session, line.prompt]);
  };
  const expected = [
    [session, "Add c"],
    [session, "Add c"],
  ];
  expect(await writtenInFork()).toEqual(expected);
  expect((await repository.run(["fork", "drop", fork.name, "--yes"], { env })).code).toBe(0);
  expect(await writtenInFork()).toEqual(expected);

  commitNow(repository);
  await settled(repository);
  expect(await writtenInFork()).toEqual(expected);
  const { stdout } = await repository.run(["explain"], { env });
  expect(stdout).toContain("(100 %)");
});

/** A commit with the real time: a commit is not older than the turns in it. */
function commitNow(repository: TemporaryRepository): void {
  const time = new Date().toISOString();
  gitWith(repository, {}, "add", "-A");
  gitWith(repository, { GIT_AUTHOR_DATE: time, GIT_COMMITTER_DATE: time }, "commit", "--quiet", "-m", "Done");
}
