/** One line of the table: two programs compared, the goal, and whether it was met. */
import { type Comparison, differenceOf, ratioOf, type Spread, spreadOf } from "./statistics.ts";

export type Goal =
  | { kind: "ratio"; most: number }
  /** At most as long as the other plus this many milliseconds. */
  | { kind: "beside"; milliseconds: number }
  /** The same, as far as the noise allows to tell. */
  | { kind: "flat" };

export interface Row {
  group: string;
  what: string;
  base: string;
  goal: Goal;
  times: Comparison;
}

/** `noise`: why the machine was not quiet. */
export type KeptRow = Row & { noise?: string | null };

/** Two runs of the very same thing differ by so much. */
const NOISE = 1.05;

export function holds({ goal, times }: Row): boolean {
  const ratio = ratioOf(times);
  switch (goal.kind) {
    case "ratio":
      return ratio.median <= goal.most;
    case "beside":
      return differenceOf(times).median <= goal.milliseconds;
    case "flat":
      return ratio.median <= NOISE || spreadOf(times.ours).median <= spreadOf(times.base).p90;
  }
}

function goalText(goal: Goal): string {
  switch (goal.kind) {
    case "ratio":
      return `≤ ${goal.most} ×`;
    case "beside":
      return `≤ 1.0 × + ${goal.milliseconds} ms`;
    case "flat":
      return "the same";
  }
}

export const HEADINGS = ["what", "takes (ms)", "against", "takes (ms)", "ratio", "more (ms)", "goal", ""];

export function cellsOf(row: Row): string[] {
  const { times } = row;
  return [
    row.what,
    shown(spreadOf(times.ours), 1),
    row.base,
    shown(spreadOf(times.base), 1),
    shown(ratioOf(times), 2),
    signed(differenceOf(times).median),
    goalText(row.goal),
    holds(row) ? "pass" : "**fail**",
  ];
}

function shown({ median, p10, p90 }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${p10.toFixed(digits)}–${p90.toFixed(digits)})`;
}

function signed(value: number): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;
}
