/** The timeline: one entry a turn, with its files, subagents and forks below it, in as many columns as there are. */
import { oneLine, shownPath } from "../../base/text.ts";
import type { Fates } from "../../restore/fates.ts";
import type { ForkRecord } from "../../steps/forks.ts";
import type { Step } from "../../steps/model.ts";
import type { Paint } from "../io.ts";
import { entriesOf, summaryOf } from "./files.ts";
import { fit, widthOf } from "./text.ts";
import { age } from "./time.ts";
import { type Turn, tasksOf } from "./turns.ts";

export interface TimelineOptions {
  columns: number;
  paint: Paint;
  now: Date;
  /** Every step below its turn. */
  steps?: boolean;
  /** What became of turns. */
  fates?: Fates;
  /** What a check said of a step. */
  verdictOf?: (step: Step) => string | undefined;
  /** Whether a session was a run without a terminal. */
  isRun?: (session: string) => boolean;
}

const INDENT = 2;
const SHORT_SESSION = 8;

export function timeline(turns: readonly Turn[], options: TimelineOptions): string[] {
  return turns.flatMap((turn, i) => {
    const lines = entry(turn, options);
    const isLast = i === turns.length - 1;
    const rail = isLast ? " " : options.paint("dim", "│");
    return lines.map((line, k) => (k === 0 ? line : `${rail} ${line}`.trimEnd()));
  });
}

/** What a step is about, on one line: its prompt, its name, or what kind of moment it is. */
export function titleOf(step: Step, prompt: string | null = step.prompt): string {
  if (step.kind === "manual") return step.name ? `saved: ${oneLine(step.name)}` : "saved by hand";
  if (step.kind === "safety") return step.name ? oneLine(step.name) : "saved before going back";
  if (step.kind === "baseline") return "the session began";
  if (step.kind === "task") return taskTitle(step);
  if (step.kind === "tool") return step.command ? `before: ${oneLine(step.command)}` : "a tool was used";
  return prompt ? oneLine(prompt) : "(no prompt recorded)";
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
  if (changedBefore(turn, options)) lines.push(paint("yellow", fit("files had been changed by hand before", room)));
  if (options.steps && turn.steps.length > 1) lines.push(...everyStep(turn, options));
  else lines.push(...below(turn, options));
  if (head.interrupted) lines.push(paint("yellow", "interrupted"));
  return lines;
}

/** A turn's first line: which, when, whose, and how many files. More than one where the screen is narrow. */
export function headlineOf({ head, open }: Turn, options: TimelineOptions): string[] {
  const { paint, now, fates, verdictOf, isRun } = options;
  const parts = [`${mark(head, open, paint)} ${paint("magenta", head.id)}`, paint("dim", age(head.time, now))];
  if (head.agent) parts.push(paint("cyan", oneLine(head.agent)));
  if (head.session && head.kind !== "manual" && head.kind !== "safety") {
    parts.push(
      paint("dim", `${oneLine(head.session).slice(0, SHORT_SESSION)}${head.turn > 0 ? ` turn ${head.turn}` : ""}`),
    );
  }
  if (head.session && isRun?.(head.session)) parts.push(paint("dim", "run"));
  const files = summaryOf(head.files, paint);
  if (files) parts.push(files);
  const stamp = stampMark(verdictOf?.(head), paint);
  if (stamp) parts.push(stamp);
  const fate = fates?.of(head);
  if (fate) parts.push(paint(FATE_STYLES[fate], fate));
  else if (open) parts.push(paint("yellow", "not finished"));
  return flow(parts, options.columns);
}

const FATE_STYLES = { undone: "yellow", "taken back": "dim" } as const;

/** Parts side by side, on as many lines as they need. */
function flow(parts: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    // All but the first line stand behind the rail.
    const room = columns - (lines.length > 1 ? INDENT : 0);
    if (last !== undefined && widthOf(last) + 2 + widthOf(part) <= room) lines[lines.length - 1] = `${last}  ${part}`;
    else lines.push(part);
  }
  return lines;
}

/** What was changed, by name, as far as there is room. */
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

/** What a check said: ✓, ✗, or nothing. */
export function stampMark(verdict: string | undefined, paint: Paint): string {
  if (verdict === "pass") return paint("green", "✓");
  return verdict === "fail" ? paint("red", "✗") : "";
}

function mark(step: Step, open: boolean, paint: Paint): string {
  if (step.kind === "manual") return paint("green", "◆");
  if (step.kind === "safety") return paint("dim", "◇");
  if (step.kind === "baseline" || open) return "○";
  return "●";
}

/** Its subagents and the forks that begin there. */
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

/** A fork, and where the other attempt lies. */
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
