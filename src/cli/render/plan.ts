/** A plan and a receipt in words: what going back would do, and what it did. */
import { oneLine, plural, printable, shownPath } from "../../base/text.ts";
import { obstacles, type Place, type Receipt, type RewindPlan } from "../../restore/model.ts";
import { shownTurn } from "../../restore/undo.ts";
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

const DONE = { rewind: "Rewound", redo: "Redone", undo: "Undone", take: "Taken", fork: "Forked" } as const;

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
  if (plan.restoresIndex) lines.push(`  ${paint("yellow", "staged")} what was staged then, and nothing else`);
  lines.push(`  ${paint("cyan", "chat")} ${chatLine(plan)}`);
  lines.push(...notUndone(plan, view), ...conflicts(plan, view));
  return lines;
}

export function receiptLines(plan: RewindPlan, receipt: Receipt, paint: Paint): string[] {
  const done = DONE[plan.kind];
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
    paint(
      "dim",
      plan.kind === "redo" ? `\`backtrail ${wayBack(plan)}\` goes back again.` : "`backtrail redo` takes this back.",
    ),
  );
  return lines;
}

function wayBack({ merge }: RewindPlan): string {
  if (!merge) return "rewind";
  return merge.changes[0]?.name === "the-take" ? "fork take" : "undo";
}

/** What a target is, in a few words. */
export function targetLine(target: Place, view: Pick<PlanView, "columns" | "now">): string {
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
  const { paint, columns } = view;
  if (plan.target.kind === "turns" && plan.target.fork !== undefined) {
    return `${paint("bold", "Bring here")} what the fork ${oneLine(plan.target.fork)} has made`;
  }
  if (plan.target.kind === "turns") {
    const verb = "Take back";
    const turns = plan.target.turns.map(
      (turn) => `${turn.last.id} (${age(turn.last.time, view.now)}), ${lowered(shownTurn(turn))}`,
    );
    const [only = "", ...others] = turns;
    if (others.length === 0) return `${paint("bold", verb)} ${fit(only, Math.max(40, columns - verb.length - 1))}`;
    return [paint("bold", verb), ...turns.map((turn) => `  ${fit(turn, Math.max(40, columns - 2))}`)].join("\n");
  }
  const verb = plan.kind === "redo" ? "Forward to" : "Back to";
  return `${paint("bold", verb)} ${targetLine(plan.target, view)}`;
}

function lowered(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
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
  if (plan.chat.kind === "fork") {
    const end = plan.options.tellAgent ? "with what was undone" : "there";
    return `a copy of the ${oneLine(plan.chat.agent)} conversation that ends ${end}`;
  }
  if (plan.chat.kind === "resume") return `the ${oneLine(plan.chat.agent)} conversation from before`;
  if (plan.kind === "take") return "left as it is, here and in the fork";
  return plan.options.codeOnly ? "left as it is (--code-only)" : printable(plan.chat.why);
}

function notUndone(plan: RewindPlan, { paint, columns }: PlanView): string[] {
  if (plan.notUndone.length === 0) return [];
  const shown = plan.notUndone.slice(0, SHOWN_NOT_UNDONE);
  const lines = shown.flatMap(({ what, why, command }) => {
    const line = `  ${paint("yellow", "!")} ${oneLine(what)}: ${printable(why)}`;
    const isNamed = command === undefined || what.includes(command);
    return isNamed ? [line] : [line, paint("dim", fit(`      by ${oneLine(command)}`, columns))];
  });
  const left = plan.notUndone.length - shown.length;
  if (left > 0) lines.push(paint("dim", `  … and ${left} more (--json lists them all)`));
  return ["", paint("bold", plan.kind === "take" ? "Not brought here" : "Not undone by this"), ...lines];
}

function conflicts(plan: RewindPlan, { paint }: PlanView): string[] {
  if (plan.conflicts.length === 0) return [];
  const lines = plan.conflicts.map(({ path, why }) => `  ${paint("red", "✗")} ${shownPath(path)}: ${printable(why)}`);
  const title = !plan.merge
    ? "In the way"
    : obstacles(plan).length > 0
      ? "In conflict"
      : "In conflict, written with markers";
  return ["", paint(["bold", "red"], title), ...lines];
}
