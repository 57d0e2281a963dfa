/** Renders one step in full, for `show` and the picker's preview. */
import { oneLine, printable, shownPath } from "../../../base/text.ts";
import type { NotCaptured, Step } from "../../../model/step.ts";
import type { Tokens } from "../../../model/tokens.ts";
import { groupTurns, tasksOf } from "../../../model/turn.ts";
import { type Cost, estimatedCost } from "../../../transcripts/prices.ts";
import type { Paint } from "../../terminal/io.ts";
import { entriesOf, fileLines, summaryOf } from "../files.ts";
import { costWords, thousands } from "../layout/amounts.ts";
import { flow, wrap, wrapAfter } from "../layout/text.ts";
import { age, moment } from "../layout/time.ts";
import { titleOf } from "../timeline/timeline.ts";

export interface StepView {
  paint: Paint;
  columns: number;
  now: Date;
  /** The run that the step belongs to. */
  run?: { status: string; parent: string | null; tags: readonly string[] } | undefined;
}

const LABEL = 10;
const INDENT = 2;

const KINDS: Readonly<Record<Step["kind"], string>> = {
  baseline: "before the session's first turn",
  "turn-start": "before the turn",
  "turn-end": "after the turn",
  task: "a subagent's work",
  tool: "between two tools",
  manual: "saved",
  safety: "state before a restore",
};

export const WHY_NOT_CAPTURED: Readonly<Record<NotCaptured["why"], string>> = {
  "too-large": "too large",
  "too-many": "too many files match capture.include",
  "no-time": "no time to read it",
  "nested-repository": "a nested repository",
  submodule: "a submodule with changes",
  unreadable: "cannot be read",
  "special-file": "not a regular file",
};

/** `sameTurn` holds all steps of the step's turn, newest first. */
export function stepDetails(step: Step, sameTurn: readonly Step[], view: StepView): string[] {
  const { paint, columns, now } = view;
  const heading = [paint("magenta", step.id), paint("bold", KINDS[step.kind])];
  if (step.interrupted) heading.push(paint("yellow", "interrupted"));
  const lines = flow(heading, columns, INDENT).map((line, i) => (i === 0 ? line : `${" ".repeat(INDENT)}${line}`));
  const add = (label: string, value: string | null) => {
    if (value) lines.push(...wrapAfter(paint("dim", label.padEnd(LABEL)), value, columns));
  };
  add("taken", `${moment(step.time)} (${age(step.time, now)})`);
  add("name", step.name && oneLine(step.name));
  add("agent", agentLine(step));
  add("session", step.session && `${step.turn > 0 ? `turn ${step.turn} of ` : ""}${oneLine(step.session)}`);
  add("run", view.run ? runLine(view.run) : null);
  add(
    "commit",
    step.head && `${step.head.slice(0, 12)}${step.branch ? ` on ${shownPath(step.branch)}` : ", no branch"}`,
  );
  add("tokens", step.tokens && tokenLine(step.tokens));
  add("cost", step.tokens && costWords(costOf(step)));
  add("chat", step.transcript ? "recorded" : step.agent ? "none (no transcript found)" : null);
  add("command", step.command && oneLine(step.command));
  section(lines, "Prompt", step.prompt, columns, paint);
  section(lines, "Answer", step.response, columns, paint);
  lines.push(...taskLines(step, sameTurn, paint), ...filesOf(step, paint));
  return lines;
}

/** Null if the step has no tokens, or its model has no price. */
export function costOf({ agent, model, tokens, time, usd }: Step): Cost | null {
  return tokens && estimatedCost([{ agent, model, tokens, time, usd }]);
}

export function tokenLine(tokens: Tokens): string {
  const cached = tokens.cacheRead + tokens.cacheWrite;
  const parts = [`${thousands(tokens.input)} in`, `${thousands(tokens.output)} out`];
  if (cached > 0)
    parts.push(`${thousands(tokens.cacheRead)} read from cache`, `${thousands(tokens.cacheWrite)} written to it`);
  return parts.join(", ");
}

function runLine({ status, parent, tags }: NonNullable<StepView["run"]>): string {
  const words = [
    status,
    parent === null ? "" : `started by ${oneLine(parent)}`,
    ...tags.map((tag) => `#${oneLine(tag)}`),
  ];
  return words.filter((word) => word !== "").join(", ");
}

function agentLine(step: Step): string | null {
  if (!step.agent) return null;
  return oneLine(step.model ? `${step.agent} (${step.model})` : step.agent);
}

function section(lines: string[], title: string, text: string | null, columns: number, paint: Paint): void {
  const shown = text && printable(text).trim();
  if (!shown) return;
  lines.push("", paint("bold", title), ...wrap(shown, columns - 2).map((line) => `  ${line}`.trimEnd()));
}

function taskLines(step: Step, sameTurn: readonly Step[], paint: Paint): string[] {
  if (step.kind === "task") return [];
  const [turn] = groupTurns(sameTurn.filter(({ kind }) => kind === "task"));
  const tasks = turn ? tasksOf(turn) : [];
  if (tasks.length === 0) return [];
  const rows = tasks.map((task) =>
    `  ${paint("magenta", task.id)}  ${titleOf(task)}  ${summaryOf(task.files, paint)}`.trimEnd(),
  );
  return ["", paint("bold", "Subagents"), ...rows];
}

function filesOf(step: Step, paint: Paint): string[] {
  const entries = entriesOf(step.files);
  const lines = entries.length > 0 ? ["", paint("bold", "Files"), ...fileLines(entries, paint)] : [];
  const left = step.snapshot.notCaptured;
  if (left.length === 0) return lines;
  return [
    ...lines,
    "",
    paint("bold", "Not captured"),
    ...left.map(({ path, why }) => `  ${shownPath(path)} (${WHY_NOT_CAPTURED[why]})`),
  ];
}
