/** A person looks back at a day with detours: what was undone, what was left behind, what was tried beside it. */
import { expect, test } from "bun:test";
import type { ForkRecord } from "../../src/steps/forks.ts";
import { ScriptedClaude, temporaryRepository, write } from "../support/index.ts";

const env = { BACKTRAIL_WORKER: "off" };

interface Logged {
  steps: { id: string; kind: string; turn: number }[];
}

/** As docs/formats/forks.md has it. */
function forkOf(step: string, directory: string): Omit<ForkRecord, "base"> {
  return {
    v: 1,
    id: "kkkkkkkkkkkk",
    name: "again",
    kind: "worktree",
    state: "ready",
    time: "2026-01-05T09:00:00.000Z",
    from: { step, worktree: "main", root: "/", prompt: null },
    commit: null,
    branch: "fork/again",
    directory,
    worktree: "aside",
    chat: null,
    making: null,
  };
}

test("undone turns, rewound turns, forks and changes by hand are distinguished", async () => {
  using repository = temporaryRepository();
  await repository.run(["enable", "--agent", "claude-code"]);
  const claude = new ScriptedClaude(repository);
  await claude.start();
  await claude.turn("Add a", [write("a.txt", "a\n")]);
  repository.write("mine.txt", "mine\n");
  await claude.turn("Add b", [write("b.txt", "b\n")]);
  await claude.turn("Add c", [write("c.txt", "c\n")]);
  const { steps } = await repository.json<Logged>(["log"], { env });
  const end = (turn: number) => steps.find((step) => step.kind === "turn-end" && step.turn === turn)?.id ?? "";
  const aside = `${repository.home}/aside`;
  repository.write(".git/backtrail/forks/kkkkkkkkkkkk.json", JSON.stringify(forkOf(end(1), aside)));
  expect((await repository.run(["undo", end(1), "--yes"], { env })).code).toBe(0);
  expect((await repository.run(["log"], { env })).stdout).toMatch(/@3 .* {2}\+1 {2}undone\n {2}Add a/);
  expect((await repository.run(["redo", "--yes"], { env })).code).toBe(0);
  expect((await repository.run(["log"], { env })).stdout).not.toContain("undone");
  expect((await repository.run(["undo", end(2), "--yes"], { env })).code).toBe(0);
  const undone = (await repository.run(["log"], { env })).stdout;
  expect(undone).toMatch(/@2 .* {2}\+1 {2}undone\n│ Add b\n│ b\.txt\n│ files were changed by hand before\n/);
  expect(undone).toContain(`: worktree ${aside}`);
  expect(repository.exists("b.txt")).toBe(false);
  expect((await repository.run(["rewind", end(2), "--yes", "--code-only"], { env })).code).toBe(0);
  const back = (await repository.run(["log"], { env })).stdout;
  expect(back).toMatch(/\+1 {2}rewound\n│ Add c/);
  expect(back).toMatch(/@1 .* {2}\+1\n│ Add b/);
});
