/** Worktrees that runs have left, for `sessions` and `clean`. */
import { basename } from "node:path";
import { oneLine } from "../../base/text.ts";
import type { RunStanding } from "../../restore/fork/spent.ts";
import type { Paint } from "../io.ts";
import { placeOf } from "./place.ts";
import { table } from "./table.ts";

const STATES: Readonly<Record<RunStanding["state"], string>> = {
  empty: "nothing was done there",
  merged: "everything is on another branch",
  going: "half removed",
  kept: "",
};

export function runWorktreeLines(standings: readonly RunStanding[], paint: Paint, columns: number): string[] {
  const rows = standings.map(({ worktree, state, why }) => [
    { text: `  ${oneLine(basename(worktree.directory))}`, paint: (text: string) => paint("bold", text) },
    why ?? STATES[state],
  ]);
  const lines = table(rows, columns);
  return standings.flatMap(({ worktree }, i) => [
    lines[i] ?? "",
    paint("dim", `    ${placeOf(worktree.directory, null)}, branch ${oneLine(worktree.branch)}`),
  ]);
}

export function runWorktreeJson({ worktree, state, why }: RunStanding) {
  const { name, directory, branch, time } = worktree;
  return { name, directory, branch, time, state, why };
}
