/** The way from a plan to a receipt that every restore takes: show, ask, apply, tell. */
import { now } from "../base/clock.ts";
import { UserError } from "../base/errors.ts";
import { plural } from "../base/text.ts";
import { isEmptyPlan, obstacles, planJson, type Receipt, type RewindPlan, receiptJson } from "../restore/model.ts";
import { confirm } from "./ask.ts";
import { EXIT } from "./exit.ts";
import type { Channel, Io } from "./io.ts";
import { withProgress } from "./progress.ts";
import { planLines, receiptLines } from "./render/plan.ts";

export interface RestoreFlags {
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

const LISTED_FILES = 20;

const QUESTION = { rewind: "Go back?", redo: "Go forward?", undo: "Take it back?" } as const;

const SAME = "There is nothing to do: everything is as it was then.";
const NOTHING = {
  rewind: SAME,
  redo: SAME,
  undo: "There is nothing to do: nothing of it is in the files any more.",
} as const;

export async function carryOut(
  io: Io,
  plan: RewindPlan,
  flags: RestoreFlags,
  apply: () => Promise<Receipt>,
): Promise<number | undefined> {
  if (flags.dryRun) {
    if (flags.json) io.json({ plan: planJson(plan), receipt: null });
    else print(io.out, plan, Number.POSITIVE_INFINITY);
    return undefined;
  }
  if (obstacles(plan).length > 0) {
    if (flags.json) io.json({ plan: planJson(plan), receipt: null });
    else print(io.err, plan, LISTED_FILES);
    throw refusal(plan);
  }
  if (isEmptyPlan(plan)) {
    if (flags.json) io.json({ plan: planJson(plan), receipt: null });
    else io.say(NOTHING[plan.kind]);
    return EXIT.nothing;
  }
  if (!flags.yes) {
    print(io.err, plan, LISTED_FILES);
    if (!(await confirm(io, QUESTION[plan.kind], "--yes to go ahead, or --dry-run to see what would be done"))) {
      io.say("Nothing was changed.");
      return EXIT.nothing;
    }
  }
  const receipt = await withProgress(io, "Restoring", apply);
  if (flags.json) io.json({ plan: planJson(plan), receipt: receiptJson(receipt) });
  else io.print(receiptLines(plan, receipt, io.out.paint).join("\n"));
  return undefined;
}

function refusal(plan: RewindPlan): UserError {
  const count = obstacles(plan).length;
  if (plan.kind === "undo") {
    return new UserError(
      "refused",
      `${plural(count, "file")} can't be taken back without touching what came later. Nothing was changed.`,
      "Undo the later turns as well, or write the conflicts into the files with --conflicts=markers.",
    );
  }
  if (plan.merge && plan.target.kind === "step") {
    return new UserError(
      "refused",
      `${plural(count, "file")} can't be brought back without touching what came later. Nothing was changed.`,
      `Everything as it was before the undo is in step ${plan.target.step.id}: backtrail rewind ${plan.target.step.id}`,
    );
  }
  return new UserError(
    "refused",
    `${plural(count, "path")} cannot be restored as long as something is in the way. Nothing was changed.`,
    "Move what is in the way, or leave it out with --paths.",
  );
}

function print(channel: Channel, plan: RewindPlan, limit: number): void {
  const { paint, columns } = channel;
  channel.write(`${planLines(plan, { paint, columns, now: now(), limit }).join("\n")}\n`);
}
