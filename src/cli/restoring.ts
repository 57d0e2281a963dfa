/** The way from a plan to a receipt that every restore takes: show, ask, apply, tell. */
import { now } from "../base/clock.ts";
import { UserError } from "../base/errors.ts";
import { plural } from "../base/text.ts";
import { isEmptyPlan, planJson, type Receipt, type RewindPlan, receiptJson } from "../restore/model.ts";
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
  if (plan.conflicts.length > 0) {
    if (flags.json) io.json({ plan: planJson(plan), receipt: null });
    else print(io.err, plan, LISTED_FILES);
    throw new UserError(
      "refused",
      `${plural(plan.conflicts.length, "path")} cannot be restored as long as something is in the way. Nothing was changed.`,
      "Move what is in the way, or leave it out with --paths.",
    );
  }
  if (isEmptyPlan(plan)) {
    if (flags.json) io.json({ plan: planJson(plan), receipt: null });
    else io.say("There is nothing to do: everything is as it was then.");
    return EXIT.nothing;
  }
  if (!flags.yes) {
    print(io.err, plan, LISTED_FILES);
    const question = plan.kind === "redo" ? "Go forward?" : "Go back?";
    if (!(await confirm(io, question, "--yes to go ahead, or --dry-run to see what would be done"))) {
      io.say("Nothing was changed.");
      return EXIT.nothing;
    }
  }
  const receipt = await withProgress(io, "Restoring", apply);
  if (flags.json) io.json({ plan: planJson(plan), receipt: receiptJson(receipt) });
  else io.print(receiptLines(plan, receipt, io.out.paint).join("\n"));
  return undefined;
}

function print(channel: Channel, plan: RewindPlan, limit: number): void {
  const { paint, columns } = channel;
  channel.write(`${planLines(plan, { paint, columns, now: now(), limit }).join("\n")}\n`);
}
