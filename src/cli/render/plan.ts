/** A plan and a receipt in words: what going back would do, and what it did. */
import { oneLine, plural, printable, shownPath } from "../../base/text.ts";
import type { Receipt, RewindPlan, Target } from "../../restore/model.ts";
import type { Paint } from "../io.ts";
import { type Change, fileLines } from "./files.ts";
import { fit } from "./text.ts";
import { age } from "./time.ts";
import { titleOf } from "./timeline.ts";

export interface PlanView {
  paint: Paint;
  columns: number;
  now: Date;
  /** Files listed at most. */
  limit: number;
}

const SHOWN_NOT_UNDONE = 8;

export function planLines(plan: RewindPlan, view: PlanView): string[] {
  const { paint } = view;
  const entries: { path: string; change: Change }[] = [
    ...plan.write.map((path) => ({ path, change: "modified" as const })),
    ...plan.delete.map((path) => ({ path, change: "deleted" as const })),
    ...plan.chmod.map((path) => ({ path, change: "mode" as const })),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
  const lines = [headline(plan, view)];
  lines.push(
    entries.length === 0 ? paint("dim", "  No file changes.") : paint("bold", counts(plan)),
    ...fileLines(entries, paint, { limit: view.limit }),
  );
  if (plan.head) {
    lines.push(
      `  ${paint("yellow", "branch")} moves from ${plan.head.from.slice(0, 12)} to ${plan.head.to.slice(0, 12)}`,
    );
  }
  lines.push(`  ${paint("cyan", "chat")} ${chatLine(plan)}`);
  lines.push(...notUndone(plan, view), ...conflicts(plan, view));
  return lines;
}

export function receiptLines(plan: RewindPlan, receipt: Receipt, paint: Paint): string[] {
  const done = plan.kind === "redo" ? "Redone" : "Rewound";
  const files = plan.options.chatOnly
    ? "the files were left as they are"
    : `${plural(receipt.written, "file")} written, ${receipt.deleted} deleted`;
  const lines = [`${paint("green", done)}: ${files}.`];
  if (receipt.chat) {
    lines.push("", `The conversation goes on with:`, `  ${paint("bold", printable(receipt.chat.command))}`);
  }
  for (const note of receipt.notes) lines.push(`${paint("cyan", "note:")} ${printable(note)}`);
  lines.push("", paint("dim", `The state before is kept as ${receipt.safetyStep}.`));
  lines.push(
    paint("dim", plan.kind === "redo" ? "`backtrail rewind` goes back again." : "`backtrail redo` takes this back."),
  );
  return lines;
}

/** What a target is, in a few words. */
export function targetLine(target: Target, view: Pick<PlanView, "columns" | "now">): string {
  if (target.kind === "commit") return `commit ${target.commit.slice(0, 12)}`;
  const { step } = target;
  const when = age(step.time, view.now);
  const place = step.kind === "turn-start" ? "before " : step.kind === "turn-end" ? "after " : "";
  // Around it: "Forward to ", the id, the age in brackets, a comma and two quotes.
  const room = view.columns - step.id.length - when.length - place.length - 18;
  const title = fit(titleOf(step), Math.max(20, room));
  return `${step.id} (${when}), ${place}${place ? `"${title}"` : title}`;
}

function headline(plan: RewindPlan, view: PlanView): string {
  const verb = plan.kind === "redo" ? "Forward to" : "Back to";
  return `${view.paint("bold", verb)} ${targetLine(plan.target, view)}`;
}

function counts(plan: RewindPlan): string {
  const parts = [
    plan.write.length > 0 ? `${plural(plan.write.length, "file")} to write` : "",
    plan.delete.length > 0 ? `${plural(plan.delete.length, "file")} to delete` : "",
    plan.chmod.length > 0 ? `${plural(plan.chmod.length, "file")} to change the mode of` : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function chatLine(plan: RewindPlan): string {
  if (plan.chat.kind === "fork") return `a copy of the ${oneLine(plan.chat.agent)} conversation that ends there`;
  if (plan.chat.kind === "resume") return `the ${oneLine(plan.chat.agent)} conversation from before`;
  return plan.options.codeOnly ? "left as it is (--code-only)" : printable(plan.chat.why);
}

function notUndone(plan: RewindPlan, { paint }: PlanView): string[] {
  if (plan.notUndone.length === 0) return [];
  const shown = plan.notUndone.slice(0, SHOWN_NOT_UNDONE);
  const lines = shown.map(
    ({ what, why }) => `  ${paint("yellow", "!")} ${shownPath(oneLine(what))}: ${printable(why)}`,
  );
  const left = plan.notUndone.length - shown.length;
  if (left > 0) lines.push(paint("dim", `  … and ${left} more (--json lists them all)`));
  return ["", paint("bold", "Not undone by this"), ...lines];
}

function conflicts(plan: RewindPlan, { paint }: PlanView): string[] {
  if (plan.conflicts.length === 0) return [];
  const lines = plan.conflicts.map(({ path, why }) => `  ${paint("red", "✗")} ${shownPath(path)}: ${printable(why)}`);
  return ["", paint(["bold", "red"], "In the way"), ...lines];
}
