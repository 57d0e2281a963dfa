/** Takes every restore from plan to receipt: show, ask, apply, report. */

import { planJson, receiptJson } from "../../api/json.ts";
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import { plural } from "../../base/text.ts";
import { PlanOutdated } from "../../restore/changes/same-plan.ts";
import { isEmptyPlan, obstacles, type Receipt, type RestorePlan } from "../../restore/types.ts";
import { reversalJson } from "../render/operations/reversal.ts";
import { planLines, receiptLines, resumeHint } from "../render/plan/plan.ts";
import { confirm } from "../terminal/ask.ts";
import { EXIT } from "../terminal/exit.ts";
import type { Channel, Io } from "../terminal/io.ts";
import { page } from "../terminal/pager.ts";
import { withProgress } from "../terminal/progress.ts";

export interface RestoreFlags {
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
  /** Shows the whole plan. */
  all?: boolean;
}

const QUESTION = {
  rewind: "Rewind?",
  redo: "Redo?",
  undo: "Undo?",
  take: "Take it?",
  fork: "",
} as const;

const SAME = "Nothing to do: the files are already in this state.";
const NOTHING = {
  rewind: SAME,
  redo: SAME,
  undo: "Nothing to undo: none of these changes are in your files anymore.",
  take: "Nothing to take: all changes of the fork are already here.",
  fork: SAME,
} as const;

/** One restore: makes its plan and applies it. */
export interface Restore {
  plan(): Promise<RestorePlan>;
  /** `agreed` is the plan that the user confirmed; nothing else may be applied. */
  apply(plan: RestorePlan, agreed?: RestorePlan): Promise<Receipt>;
}

/** The texts in which a command differs from the default. */
export interface RestoreWords {
  question?: string;
  /** The first word of the receipt. */
  done?: string;
  /** Sentences for a plan that changes nothing; undefined for the default text. */
  nothing?: (plan: RestorePlan) => string[] | undefined;
}

export async function confirmAndApply(
  io: Io,
  restore: Restore,
  flags: RestoreFlags,
  words: RestoreWords = {},
): Promise<number | undefined> {
  for (;;) {
    const plan = await restore.plan();
    const ended = await withoutApplying(io, plan, flags, words);
    if (ended !== null) return ended.code;
    if (!flags.yes && !(await isAgreed(io, plan, flags, words))) {
      io.say("Nothing was changed.");
      return EXIT.nothing;
    }
    try {
      const receipt = await withProgress(io, "Restoring", () => restore.apply(plan, flags.yes ? undefined : plan));
      if (flags.json) io.json({ plan: planAsJson(plan), receipt: receiptJson(receipt) });
      else io.printMessage(receiptLines(plan, receipt, io.out, words.done).join("\n"));
      return undefined;
    } catch (error) {
      if (!(error instanceof PlanOutdated)) throw error;
      io.say("\nThe files changed after this plan was shown. Nothing was changed. The new plan:\n");
    }
  }
}

/** Handles a dry run, a conflict, or an empty plan; null if there is something to apply. */
async function withoutApplying(
  io: Io,
  plan: RestorePlan,
  flags: RestoreFlags,
  words: RestoreWords,
): Promise<{ code: number | undefined } | null> {
  const isRefused = obstacles(plan).length > 0;
  const isEmpty = isEmptyPlan(plan);
  if (!flags.dryRun && !isRefused && !isEmpty) return null;
  if (flags.json) io.json({ plan: planAsJson(plan), receipt: null });
  if (flags.dryRun) {
    if (flags.json) return { code: undefined };
    await page(io, planText(io.out, plan, true));
    if (isEmpty && !isRefused) for (const sentence of words.nothing?.(plan) ?? []) io.say(sentence);
    return { code: undefined };
  }
  if (isRefused) {
    if (!flags.json) io.say(planText(io.err, plan, flags.all === true));
    throw refusal(plan);
  }
  if (!flags.json) {
    const isBare = plan.notUndone.length === 0;
    if (!isBare) io.say(planText(io.err, plan, flags.all === true));
    const usual = isBare ? nothingToDo(plan) : "Nothing else to do.";
    for (const sentence of words.nothing?.(plan) ?? [usual]) io.say(sentence);
    const resume = isBare ? resumeHint(plan) : null;
    if (resume !== null) io.say(`The conversation is ${resume}.`);
  }
  return { code: EXIT.nothing };
}

async function isAgreed(io: Io, plan: RestorePlan, flags: RestoreFlags, words: RestoreWords): Promise<boolean> {
  const text = planText(io.err, plan, flags.all === true);
  if (flags.all && io.interactive) await page(io, text, "err");
  else io.say(text);
  const question = words.question ?? QUESTION[plan.kind];
  return confirm(io, question, "--yes to continue, or --dry-run to see the plan");
}

/** The plan as JSON, including what it reverts. */
export function planAsJson(plan: RestorePlan) {
  return { ...planJson(plan), ...(plan.reverses ? { reverses: reversalJson(plan.reverses) } : {}) };
}

function refusal(plan: RestorePlan): UserError {
  const count = obstacles(plan).length;
  if (plan.kind === "undo") {
    return new UserError(
      "refused",
      `${plural(count, "file")} can't be undone without changing later work. Nothing was changed.`,
      `${laterTurnsHint(plan)}, or write the conflicts into the files with --conflicts=markers.`,
    );
  }
  if (plan.options.keepMine) {
    return new UserError(
      "refused",
      `${plural(count, "file")} can't be rewound without changing your own lines. Nothing was changed.`,
      "Rewind without --keep-mine, or write the conflicts into the files with --conflicts=markers.",
    );
  }
  if (plan.kind === "take") {
    return new UserError(
      "refused",
      `${plural(count, "file")} can't be merged with the changes made here. Nothing was changed.`,
      "Write both versions into the files with --conflicts=markers, or copy the files by hand.",
    );
  }
  if (plan.merge && plan.target.kind === "step") {
    return new UserError(
      "refused",
      `${plural(count, "file")} can't be restored without changing later work. Nothing was changed.`,
      `The previous state is saved as step ${plan.target.step.id}: backtrail rewind ${plan.target.step.id}`,
    );
  }
  return new UserError(
    "refused",
    `${plural(count, "path")} can't be restored: something is in the way. Nothing was changed.`,
    "Move the obstacle away, or leave the path out with --paths.",
  );
}

/** Names the command that also undoes the conflicting turns, if all conflicts are with turns. */
function laterTurnsHint(plan: RestorePlan): string {
  const later = obstacles(plan).map(({ reason }) =>
    "by" in reason && reason.by?.kind === "turn" ? reason.by.step : null,
  );
  const own = plan.target.kind === "turns" ? plan.target.turns.map(({ last }) => last.id) : [];
  const [first, ...more] = [...new Set(later)];
  if (own.length === 0 || !first || more.includes(null)) return "Undo the later turns as well";
  return `Undo ${more.length === 0 && own.length === 1 ? "both" : "all of them"}: \`backtrail undo ${[...own, first, ...more].join(" ")}\``;
}

function nothingToDo({ kind, options }: RestorePlan): string {
  return options.keepMine ? "Nothing to rewind: no turn since then has changes in your files." : NOTHING[kind];
}

function planText({ paint, columns, rows, isTerminal }: Channel, plan: RestorePlan, all: boolean): string {
  const view = { paint, columns, rows: isTerminal ? rows : Number.POSITIVE_INFINITY, now: now(), all };
  return planLines(plan, view).join("\n");
}
