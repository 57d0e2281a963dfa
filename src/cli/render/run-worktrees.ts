/** Renders the worktrees that runs have left, for `sessions` and `clean`. */
import { basename } from "node:path";
import { oneLine } from "../../base/text.ts";
import type { RunWorktreeStatus } from "../../restore/fork/stale-worktrees.ts";
import type { Paint } from "../terminal/io.ts";
import { placeOf } from "./layout/location.ts";
import { table } from "./layout/table.ts";
import { keepReasonText } from "./words/restore/forks.ts";

const STATES: Readonly<Record<RunWorktreeStatus["state"], string>> = {
  empty: "no work in it",
  merged: "everything is on another branch",
  going: "half removed",
  kept: "",
};

export function runWorktreeLines(standings: readonly RunWorktreeStatus[], paint: Paint, columns: number): string[] {
  const rows = standings.map(({ worktree, state, why }) => [
    { text: `  ${oneLine(basename(worktree.directory))}`, paint: (text: string) => paint("bold", text) },
    why ? keepReasonText(why) : STATES[state],
  ]);
  const lines = table(rows, columns);
  return standings.flatMap(({ worktree }, i) => [
    lines[i] ?? "",
    paint("dim", `    ${placeOf(worktree.directory, null)}, branch ${oneLine(worktree.branch)}`),
  ]);
}

export function runWorktreeJson({ worktree, state, why }: RunWorktreeStatus) {
  const { name, directory, branch, time } = worktree;
  return { name, directory, branch, time, state, why: why && keepReasonText(why), reason: why?.kind ?? null };
}
