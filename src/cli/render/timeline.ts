/** The timeline: one entry a turn, its subagents below it, 80 columns and upwards. */
import { oneLine } from "../../base/text.ts";
import type { Step } from "../../steps/model.ts";
import type { Paint } from "../io.ts";
import { summaryOf } from "./files.ts";
import { fit } from "./text.ts";
import { age } from "./time.ts";
import { type Turn, tasksOf } from "./turns.ts";

export interface TimelineOptions {
  columns: number;
  paint: Paint;
  now: Date;
  /** Every step below its turn. */
  steps?: boolean;
  /** Whether a turn was taken back by a rewind and is no longer part of the present. */
  isTakenBack?: (step: Step) => boolean;
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
  const lines = [headline(turn, options)];
  const room = columns - INDENT;
  lines.push(
    fit(titleOf(turn.open && head.kind !== "turn-start" ? { ...head, kind: "turn-start" } : head, turn.prompt), room),
  );
  if (options.steps && turn.steps.length > 1) lines.push(...everyStep(turn, options));
  else lines.push(...tasks(turn, options));
  if (head.interrupted) lines.push(paint("yellow", "interrupted"));
  return lines;
}

function headline({ head, open }: Turn, { paint, now, isTakenBack, isRun }: TimelineOptions): string {
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
  if (isTakenBack?.(head)) parts.push(paint("dim", "taken back"));
  else if (open) parts.push(paint("yellow", "not finished"));
  return parts.join("  ");
}

function mark(step: Step, open: boolean, paint: Paint): string {
  if (step.kind === "manual") return paint("green", "◆");
  if (step.kind === "safety") return paint("dim", "◇");
  if (step.kind === "baseline" || open) return "○";
  return "●";
}

function tasks(turn: Turn, { paint, columns }: TimelineOptions): string[] {
  const found = tasksOf(turn);
  return found.map((task, i) => {
    const branch = i === found.length - 1 ? "└" : "├";
    const files = summaryOf(task.files, paint);
    const text = fit(taskTitle(task), columns - INDENT - 20);
    return `${paint("dim", `${branch} `)}${text}${files ? `  ${files}` : ""}`;
  });
}

function everyStep(turn: Turn, { paint, now, columns }: TimelineOptions): string[] {
  return turn.steps.map((step, i) => {
    const branch = i === turn.steps.length - 1 ? "└" : "├";
    const title = step.kind === "task" || step.kind === "tool" ? titleOf(step) : step.kind;
    const files = summaryOf(step.files, paint);
    const when = age(step.time, now);
    const text = fit(title, columns - INDENT - step.id.length - when.length - 20);
    return `${paint("dim", branch)} ${paint("magenta", step.id)}  ${paint("dim", when)}  ${text}${files ? `  ${files}` : ""}`;
  });
}

function taskTitle(step: Step): string {
  const { subagent } = step;
  const type = subagent?.type ? oneLine(subagent.type) : "subagent";
  const about = subagent?.description ?? step.prompt;
  return about ? `${type}: ${oneLine(about)}` : type;
}
