/** Renders plans and receipts: what a restore would do, and what it did. */
import { oneLine, plural, printable, shortSession, shownPath } from "../../../base/text.ts";
import { showSize } from "../../../config/values.ts";
import type { FoundTurn } from "../../../restore/targets/turns.ts";
import {
  type OversizedSafety,
  obstacles,
  type Receipt,
  type RestorePlan,
  type StateTarget,
} from "../../../restore/types.ts";
import type { Paint } from "../../terminal/io.ts";
import { fit, wrap, wrapAfter } from "../layout/text.ts";
import { age } from "../layout/time.ts";
import { reversalHeadline, reversalLines } from "../operations/reversal.ts";
import { openSessionLines } from "../sessions/open.ts";
import { titleOf, turnNumber } from "../timeline/timeline.ts";
import { conflictText } from "../words/restore/conflicts.ts";
import { noConversationText, noteText } from "../words/restore/notes.ts";
import { sideEffectRow } from "../words/restore/side-effects.ts";
import { planFileLines } from "./files.ts";
import { turnLines } from "./turns.ts";

export interface PlanView {
  paint: Paint;
  columns: number;
  now: Date;
  /** The number of screen lines for the plan and its question; infinite without a screen. */
  rows: number;
  /** Shows everything, however long. */
  all: boolean;
}

/** How many files the plan shows, as the screen allows. */
const FILES = { min: 5, max: 20 } as const;
/** The lines for the question, the counts and the user's own changes. */
const OTHER_ROWS = 7;
const MAX_NOT_UNDONE = 8;
const MIN_PROMPT = 20;

const DONE = { rewind: "Rewound", redo: "Redone", undo: "Undone", take: "Taken", fork: "Forked" } as const;

export function planLines(plan: RestorePlan, view: PlanView): string[] {
  const above = headline(plan, view).split("\n");
  // The headline of an undo names its turns, and a redo has separate lines for what comes back and what is left behind.
  if (plan.reverses) above.push(...reversalLines(plan.reverses, view));
  else if (plan.kind !== "undo") {
    above.push(...turnLines(plan.kind === "take" ? "Takes" : "Rewinds", plan.turns, view));
    above.push(...turnLines("Brings back", plan.bringsBack ?? [], view));
  }
  const below = [...otherLines(plan, view), ...notUndone(plan, view), ...conflicts(plan, view)];
  const room = view.rows - above.length - below.length - OTHER_ROWS;
  const limit = view.all ? Number.POSITIVE_INFINITY : Math.min(FILES.max, Math.max(FILES.min, room));
  return [...above, ...planFileLines(plan, { ...view, limit }), ...below];
}

/** Lines about the branch, the staged state and the conversation. */
function otherLines(plan: RestorePlan, { paint, columns }: PlanView): string[] {
  const lines: string[] = [];
  const add = (label: string, text: string) => lines.push(...wrapAfter(`  ${label} `, text, columns));
  if (plan.head)
    add(paint("yellow", "branch"), `moves from ${plan.head.from.slice(0, 12)} to ${plan.head.to.slice(0, 12)}`);
  if (plan.restoresIndex) add(paint("yellow", "staged"), "as it was at this step");
  if (plan.oversized) add(paint("yellow", "room"), oversizedLine(plan.oversized));
  add(paint("cyan", "chat"), chatLine(plan));
  return lines;
}

export function receiptLines(
  plan: RestorePlan,
  receipt: Receipt,
  { paint, columns }: Pick<PlanView, "paint" | "columns">,
  done: string = DONE[plan.kind],
): string[] {
  const files = plan.options.chatOnly
    ? "no file changes"
    : `${plural(receipt.written, "file")} written, ${receipt.deleted} deleted`;
  const lines = [`${paint("green", done)}: ${files}.`];
  // The user continues in an open session, which needs no command.
  if (receipt.chat && !isOpen(receipt)) {
    lines.push("", `Continue the conversation with:`, `  ${paint("bold", printable(receipt.chat.command))}`);
  }
  const resume = resumeHint(plan);
  if (resume !== null) lines.push("", `The conversation was ${resume}.`);
  lines.push(...openSessionLines(receipt, paint, columns));
  for (const note of receipt.notes.filter((note) => !isSuperseded(note, receipt)))
    lines.push(`${paint("cyan", "note:")} ${printable(noteText(note))}`);
  if (plan.oversized) lines.push(`${paint("cyan", "note:")} ${oversizedLine(plan.oversized)}.`);
  lines.push("", paint("dim", `The previous state is saved as ${receipt.safetyStep}.`));
  lines.push(
    paint(
      "dim",
      plan.kind === "redo" ? `\`backtrail ops undo ${receipt.id}\` undoes this.` : "`backtrail redo` undoes this.",
    ),
  );
  return lines;
}

function isOpen({ chat, openSessions }: Receipt): boolean {
  return openSessions.some(({ session }) => session === chat?.session);
}

/** An undo leaves the conversation alone, but an open session learns of it with its next prompt. */
function isSuperseded(note: Receipt["notes"][number], { openSessions }: Receipt): boolean {
  const saysUninformed = note.kind === "no-conversation" && note.reason.kind === "undo-only";
  return saysUninformed && openSessions.some(({ notified }) => notified);
}

/** The user can proceed, raise the size limit for steps, or move the files away first. */
function oversizedLine({ bytes, limit, keptUntil }: OversizedSafety): string {
  return `the previous state takes up to ${showSize(bytes)}, more than retention.max_size (${showSize(limit)}); it is kept until ${keptUntil.slice(0, 10)} anyway`;
}

/** Describes a target in a few words, on two lines in a narrow window. */
export function targetLine(target: StateTarget, view: Pick<PlanView, "columns" | "now">): string {
  if (target.kind === "commit") return `commit ${target.commit.slice(0, 12)}`;
  const { step } = target;
  const when = age(step.time, view.now);
  const place = step.kind === "turn-start" ? "before " : step.kind === "turn-end" ? "after " : "";
  // The text around the title: "Rewind to ", the id, the age in parentheses, a comma and two quotes.
  const room = view.columns - step.id.length - when.length - place.length - 18;
  const isNarrow = room < MIN_PROMPT;
  const title = fit(titleOf(step), isNarrow ? Math.max(MIN_PROMPT, view.columns - place.length - 4) : room);
  return `${step.id} (${when}),${isNarrow ? "\n  " : " "}${place}${place ? `"${title}"` : title}`;
}

function headline(plan: RestorePlan, view: PlanView): string {
  const { paint, columns } = view;
  if (plan.target.kind === "turns" && plan.target.fork !== undefined) {
    return `${paint("bold", "Take")} the changes of the fork ${oneLine(plan.target.fork)}`;
  }
  if (plan.target.kind === "turns") {
    const verb = "Undo";
    const [only, ...others] = plan.target.turns;
    if (only && others.length === 0)
      return `${paint("bold", verb)} ${turnLine(only, view.now, columns - verb.length - 1)}`;
    const title = paint("bold", `${verb} ${plural(plan.target.turns.length, "turn")}:`);
    const rows = plan.target.turns.map((turn) => turnLine(turn, view.now, columns - 2).replaceAll("\n", "\n  "));
    return [title, ...rows.map((row) => `  ${row}`)].join("\n");
  }
  if (plan.reverses) return `${paint("bold", "Undo")} ${reversalHeadline(plan.reverses, view)}`;
  const verb = plan.kind === "redo" ? "Redo to" : "Rewind to";
  return `${paint("bold", verb)} ${targetLine(plan.target, view)}`;
}

/** `@2 yyqxylmplkwz (13 min ago), claude-code: "Cache the prices"`, on several lines in a narrow window. */
function turnLine({ agent, back, last, subagent, prompt }: FoundTurn, now: Date, columns: number): string {
  const whose = subagent === null ? oneLine(agent) : `a subagent of ${oneLine(agent)}`;
  const number = back === null ? "" : `${turnNumber(back)} `;
  const start = `${number}${last.id} (${age(last.time, now)}), ${whose}`;
  if (prompt === null) return wrap(start, columns).join("\n  ");
  const room = columns - start.length - 4;
  if (room >= MIN_PROMPT) return `${start}: "${fit(oneLine(prompt), room)}"`;
  return `${wrap(`${start}:`, columns).join("\n  ")}\n  "${fit(oneLine(prompt), Math.max(MIN_PROMPT, columns - 4))}"`;
}

function chatLine(plan: RestorePlan): string {
  if (plan.chat.kind === "fork") {
    const end = plan.options.tellAgent ? "with what was undone" : "there";
    return `a copy of the ${oneLine(plan.chat.agent)} conversation that ends ${end}`;
  }
  if (plan.chat.kind === "resume") {
    const conversation = `the ${oneLine(plan.chat.agent)} conversation`;
    if (plan.kind !== "rewind") return `${conversation} from before`;
    return `${oneLine(plan.chat.agent)} session ${shortSession(plan.chat.session)}, which already ends there`;
  }
  const resume = resumeHint(plan);
  if (resume !== null) return resume;
  if (plan.kind === "take") return "not changed, here and in the fork";
  if (plan.chat.reason.kind === "undo-only") return "not changed; --tell-agent adds a notice of what was undone";
  // A take concerns files alone, and so does taking it back.
  if (plan.reverses?.record.kind === "take") return "not changed";
  return plan.options.codeOnly ? "not changed (--code-only)" : printable(noConversationText(plan.chat.reason));
}

/** A rewind to a checkpoint's commit restores only files; `resume` restores the conversation. */
export function resumeHint({ target, options }: RestorePlan): string | null {
  if (options.codeOnly || target.kind !== "commit" || target.checkpoint === undefined) return null;
  return `not changed; \`backtrail resume ${target.checkpoint}\` continues the checkpoint's conversation`;
}

function notUndone(plan: RestorePlan, { paint, columns, all }: PlanView): string[] {
  if (plan.notUndone.length === 0) return [];
  const shown = all ? plan.notUndone : plan.notUndone.slice(0, MAX_NOT_UNDONE);
  const lines = shown.map(sideEffectRow).flatMap(({ what, why, command }, i, rows) => {
    const lines = wrapAfter(`  ${paint("yellow", "!")} `, `${oneLine(what)}: ${printable(why)}`, columns);
    const isNamed = command === undefined || what.includes(command);
    // Several files of one command: the command follows the last of them.
    if (isNamed || rows[i + 1]?.command === command) return lines;
    const many = rows[i - 1]?.command === command;
    return [...lines, paint("dim", fit(`      ${many ? "all " : ""}by ${oneLine(command)}`, columns))];
  });
  const left = plan.notUndone.length - shown.length;
  if (left > 0) lines.push(paint("dim", `  … and ${left} more (--all lists them)`));
  return ["", paint("bold", plan.kind === "take" ? "Not taken" : "Not undone"), ...lines];
}

function conflicts(plan: RestorePlan, { paint, columns }: PlanView): string[] {
  if (plan.conflicts.length === 0) return [];
  const lines = plan.conflicts.flatMap(({ path, reason }) =>
    wrapAfter(`  ${paint("red", "✗")} `, `${shownPath(path)}: ${printable(conflictText(reason))}`, columns),
  );
  const title = !plan.merge
    ? "In the way"
    : obstacles(plan).length > 0
      ? "In conflict"
      : "In conflict, written with markers";
  return ["", paint(["bold", "red"], title), ...lines];
}
