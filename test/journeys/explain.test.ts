/** A person asks what is behind a commit to which several sessions, and turns that were undone, belong. */
import { expect, test } from "bun:test";
import { ScriptedClaude, temporaryFolder, temporaryRepository, write } from "../support/index.ts";
import { gitWith, settled } from "./commits.ts";

const env = { BACKTRAIL_WORKER: "off" };
const EARLY = "ffffffff-2222-4333-8444-555555555555";
const LATE = "00000000-2222-4333-8444-555555555555";

interface Explained {
  checkpoints: { sessions: { metadata: { session_id: string }; lines: number | null }[] }[];
}

test("lines are counted for each session, and sessions are in order of time", async () => {
  for (const [first, second] of [
    [EARLY, LATE],
    [LATE, EARLY],
  ] as const) {
    using repository = temporaryRepository();
    await repository.run(["enable", "--agent", "claude-code"]);
    const [one, other] = [new ScriptedClaude(repository, first), new ScriptedClaude(repository, second)];
    await one.start();
    await other.start();
    await one.turn("Add a", [write("a.txt", "1\n2\n3\n")]);
    await other.turn("Add b", [write("b.txt", "1\n")]);
    gitWith(repository, {}, "add", "-A");
    gitWith(repository, {}, "commit", "--quiet", "-m", "Both");
    await settled(repository);

    const { stdout } = await repository.run(["explain"], { env });
    expect(stdout).toContain("lines       4 of 4 by agents (100 %)");
    expect(stdout).toContain("lines       3 of 4 by this session (75 %)");
    expect(stdout).toContain("lines       1 of 4 by this session (25 %)");
    const { checkpoints } = await repository.json<Explained>(["explain"], { env });
    const sessions = checkpoints[0]?.sessions.map(({ metadata, lines }) => [metadata.session_id, lines]);
    expect(sessions).toEqual([
      [first, 3],
      [second, 1],
    ]);
  }
});

test("turns that were undone before the commit are marked", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Add a", [write("a.txt", "a\n")]);
  await claude.turn("Add b", [write("b.txt", "b\n")]);
  await claude.turn("Add c", [write("c.txt", "c\n")]);
  const { steps } = await repository.json<{ steps: { id: string; kind: string; turn: number }[] }>(["log"], { env });
  const endOf = (turn: number) => steps.find((step) => step.kind === "turn-end" && step.turn === turn)?.id ?? "";
  await repository.run(["undo", endOf(2), "--yes"], { env });
  gitWith(repository, {}, "add", "-A");
  gitWith(repository, {}, "commit", "--quiet", "-m", "Without b");
  await settled(repository);
  // An undo after the commit changes nothing about what was committed.
  await repository.run(["undo", endOf(3), "--yes"], { env });

  expect((await repository.run(["explain"], { env })).stdout).toContain("1. Add a\n  2. Add b (undone)\n  3. Add c\n");
  const session = await repository.run(["explain", claude.session], { env });
  expect(session.stdout).toMatch(/Turn 1 .*[^d]\n {2}Add a\n/);
  expect(session.stdout).toMatch(/Turn 2 .* undone\n {2}Add b\n/);
  expect(session.stdout).toMatch(/Turn 3 .* undone\n {2}Add c\n/);
});

test("a checkpoint that the worker has not written yet is being written; without commits, sessions are named", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.turn("Add a", [write("a.txt", "1\n")]);
  gitWith(repository, env, "add", "-A");
  gitWith(repository, env, "commit", "--quiet", "-m", "A");
  expect((await repository.run(["log", "--commits"], { env })).stdout).toMatch(/^ {2}[0-9a-f]{12} {2}being written$/m);
  await settled(repository);
  expect((await repository.run(["log", "--commits"], { env })).stdout).toContain("    Add a");

  using folder = temporaryFolder();
  await folder.run(["enable", "--agent", "claude-code"], { env });
  const { stderr } = await folder.run(["explain"], { env });
  expect(stderr).toContain("it has no commits to explain");
  expect(stderr).toContain("`backtrail explain <session>`");
});
