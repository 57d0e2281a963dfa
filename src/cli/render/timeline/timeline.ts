/**
 * Renders the timeline: one entry per turn, with its files, subagents and forks below, fitted to the screen's width.
 */
import { oneLine, shortSession, shownPath } from "../../../base/text.ts";
import type { Step } from "../../../model/step.ts";
import { type Turn, tasksOf } from "../../../model/turn.ts";
import type { TurnStatuses } from "../../../restore/targets/turn-status.ts";
import type { ForkRecord } from "../../../steps/forks.ts";
import type { Paint } from "../../terminal/io.ts";
import { entriesOf, summaryOf } from "../files.ts";
import { fit, flow, pad, widthOf } from "../layout/text.ts";
import { age } from "../layout/time.ts";

export interface TimelineOptions {
  columns: number;
  paint: Paint;
  now: Date;
  /** Shows every step below its turn. */
  steps?: boolean;
  /** The statuses of turns. */
  fates?: TurnStatuses;
  /** The result of the check of a step. */
  verdictOf?: (step: Step) => string | undefined;
  /** Whether a session was a run without a terminal. */
  isRun?: (session: string) => boolean;
  /** Aligns the headlines of several turns, where they fit on one line each. */
  widths?: { number: number; age: number; agent: number };
  /** The colored lines of a turn's diff. */
  patchOf?: (head: Step) => readonly string[];
}

const INDENT = 2;

export function timeline(turns: readonly Turn[], view: TimelineOptions): string[] {
  const options = { ...view, widths: widthsOf(turns, view) };
  return turns.flatMap((turn, i) => {
    const lines = entry(turn, options);
    const isLast = i === turns.length - 1;
    const rail = isLast ? " " : options.paint("dim", "│");
    return lines.map((line, k) => (k === 0 ? line : `${rail} ${line}`.trimEnd()));
  });
}

/** The title of a step on one line: its prompt, its name, or its kind. */
export function titleOf(step: Step, prompt: string | null = step.prompt): string {
  if (step.kind === "manual") return step.name ? `saved: ${oneLine(step.name)}` : "saved";
  if (step.kind === "safety") return step.name ? oneLine(step.name) : "state before a restore";
  if (step.kind === "baseline") return baselineTitle(step);
  if (step.kind === "task") return taskTitle(step);
  if (step.kind === "tool") return step.command ? `before: ${oneLine(step.command)}` : "a tool was used";
  return prompt ? oneLine(prompt) : "(no prompt recorded)";
}

/** The number of turns back, in the form that every command accepts. */
export function turnNumber(back: number): string {
  return `@${back}`;
}

function baselineTitle({ sessionEnd, turn }: Step): string {
  if (sessionEnd) return "the session ended";
  return turn === 0 ? "the session began" : "between turns of the session";
}

function entry(turn: Turn, options: TimelineOptions): string[] {
  const { paint, columns } = options;
  const { head } = turn;
  const lines = headlineOf(turn, options);
  const room = columns - INDENT;
  lines.push(
    fit(titleOf(turn.open && head.kind !== "turn-start" ? { ...head, kind: "turn-start" } : head, turn.prompt), room),
  );
  const names = namesOf(head, room);
  if (names && !options.steps) lines.push(paint("dim", names));
  if (changedBefore(turn, options)) lines.push(paint("yellow", fit("files were changed by hand before", room)));
  if (options.steps && turn.steps.length > 1) lines.push(...everyStep(turn, options));
  else lines.push(...below(turn, options));
  if (head.interrupted) lines.push(paint("yellow", "interrupted"));
  const patch = options.patchOf?.(head) ?? [];
  if (patch.length > 0) lines.push("", ...patch, "");
  return lines;
}

/** The first line of a turn: number, time, agent and file count. Takes more lines on a narrow screen. */
export function headlineOf({ head, open }: Turn, options: TimelineOptions): string[] {
  const { paint, now, fates, verdictOf, isRun, widths } = options;
  const start = [
    { text: numberOf(head, fates), style: "bold", width: widths?.number },
    { text: age(head.time, now), style: "dim", width: widths?.age },
    { text: agentOf(head), style: "cyan", width: widths?.agent },
  ] as const;
  const parts: string[] = [];
  if (head.session && head.kind !== "manual" && head.kind !== "safety") {
    parts.push(paint("dim", shortSession(head.session)));
  }
  if (head.session && isRun?.(head.session)) parts.push(paint("dim", "run"));
  const files = summaryOf(head.files, paint);
  if (files) parts.push(files);
  const stamp = checkMark(verdictOf?.(head), paint);
  if (stamp) parts.push(stamp);
  const fate = fates?.of(head);
  if (fate) parts.push(paint(FATE_STYLES[fate], fate));
  else if (open) parts.push(paint("yellow", "not finished"));
  const first = `${mark(head, open, paint)} ${paint("magenta", head.id)}`;
  const plain = start.filter(({ text }) => text !== "").map(({ text, style }) => paint(style, text));
  const aligned = start
    .filter(({ width }) => width)
    .map(({ text, style, width }) => pad(paint(style, text), width ?? 0));
  const line = [first, ...aligned, ...parts].join("  ").trimEnd();
  return widths && widthOf(line) <= options.columns
    ? [line]
    : flow([first, ...plain, ...parts], options.columns, INDENT);
}

function widthsOf(turns: readonly Turn[], { fates, now }: TimelineOptions) {
  const widest = (text: (head: Step) => string) => Math.max(0, ...turns.map(({ head }) => widthOf(text(head))));
  return {
    number: widest((head) => numberOf(head, fates)),
    age: widest((head) => age(head.time, now)),
    agent: widest(agentOf),
  };
}

function numberOf(head: Step, fates: TurnStatuses | undefined): string {
  const back = fates?.turnsBack(head) ?? null;
  return back === null ? "" : turnNumber(back);
}

function agentOf({ agent }: Step): string {
  return agent ? oneLine(agent) : "";
}

const FATE_STYLES = { undone: "yellow", rewound: "dim" } as const;

/** The names of the changed files, as many as fit. */
function namesOf({ files }: Step, room: number): string {
  const paths = entriesOf(files).map(({ path }) => shownPath(path));
  for (let shown = Math.min(paths.length, SHOWN_NAMES); shown > 0; shown--) {
    const left = paths.length - shown;
    const text = `${paths.slice(0, shown).join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
    if (widthOf(text) <= room) return text;
  }
  return paths.length > 0 ? fit(paths[0] ?? "", room) : "";
}

const SHOWN_NAMES = 5;

function changedBefore({ steps }: Turn, { fates }: TimelineOptions): boolean {
  const start = steps.find(({ kind }) => kind === "turn-start");
  return start !== undefined && (fates?.changedBefore(start) ?? false);
}

/** The mark for a check's result: ✓, ✗, or nothing. */
export function checkMark(verdict: string | undefined, paint: Paint): string {
  if (verdict === "pass") return paint("green", "✓");
  return verdict === "fail" ? paint("red", "✗") : "";
}

function mark(step: Step, open: boolean, paint: Paint): string {
  if (step.kind === "manual") return paint("green", "◆");
  if (step.kind === "safety") return paint("dim", "◇");
  if (step.kind === "baseline" || open) return "○";
  return "●";
}

/** The turn's subagents and the forks that start from it. */
function below(turn: Turn, { paint, columns, fates }: TimelineOptions): string[] {
  const rows: string[] = [];
  for (const task of tasksOf(turn)) {
    const undone = fates?.of(task) === "undone" && fates.of(turn.head) === null;
    const marks = [summaryOf(task.files, paint), undone ? paint("yellow", "undone") : ""].filter((text) => text !== "");
    const room = columns - INDENT - 2 - marks.reduce((sum, text) => sum + widthOf(text) + 2, 0);
    rows.push([fit(taskTitle(task), Math.max(8, room)), ...marks].join("  "));
  }
  for (const fork of fates?.forks(turn.steps) ?? [])
    rows.push(paint("cyan", fit(forkTitle(fork), columns - INDENT - 2)));
  return rows.map((row, i) => `${paint("dim", i === rows.length - 1 ? "└ " : "├ ")}${row}`);
}

/** A fork and its location. */
export function forkTitle({ name, kind, directory, branch, state }: ForkRecord): string {
  const where = directory ?? branch;
  const unfinished = state === "ready" ? "" : " (unfinished)";
  return `fork ${oneLine(name)}${where ? `: ${kind} ${shownPath(where)}` : ""}${unfinished}`;
}

function everyStep(turn: Turn, { paint, now, columns }: TimelineOptions): string[] {
  return turn.steps.map((step, i) => {
    const branch = i === turn.steps.length - 1 ? "└" : "├";
    const title = step.kind === "task" || step.kind === "tool" ? titleOf(step) : step.kind;
    const files = summaryOf(step.files, paint);
    const when = age(step.time, now);
    const text = fit(title, Math.max(8, columns - INDENT - step.id.length - when.length - 20));
    return `${paint("dim", branch)} ${paint("magenta", step.id)}  ${paint("dim", when)}  ${text}${files ? `  ${files}` : ""}`;
  });
}

function taskTitle(step: Step): string {
  const { subagent } = step;
  const type = subagent?.type ? oneLine(subagent.type) : "subagent";
  const about = subagent?.description ?? step.prompt;
  return about ? `${type}: ${oneLine(about)}` : type;
}
