/** `fork drop`: removes a fork, whose last state is kept. */
import { printable } from "../../../base/text.ts";
import { applyDrop, type DropPlan, planDrop } from "../../../restore/fork/drop.ts";
import { findFork } from "../../../restore/fork/find.ts";
import { confirm } from "../../ask.ts";
import { EXIT } from "../../exit.ts";
import type { Channel, Io } from "../../io.ts";
import { withProgress } from "../../progress.ts";
import { forkJson } from "../../render/fork.ts";
import { placeOf } from "../../render/place.ts";
import { openWorkspace } from "../../workspace.ts";

interface Options {
  fork: string;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const plan = await withProgress(io, "Looking at it", async () =>
    planDrop(workspace, findFork(workspace, options.fork, "exact")),
  );
  const { record, lost, changed, ownTip, ownHead } = plan;
  const planned = { fork: forkJson(record), lost, changed, ownCommits: ownTip, ownHead };
  if (options.dryRun) {
    if (options.json) io.json({ plan: planned, dropped: null });
    else show(plan, io.out);
    return undefined;
  }
  // Where nothing is lost there is nothing to ask.
  if (lost.length > 0 && !options.yes) {
    show(plan, io.err);
    if (!(await confirm(io, "Drop it, and these with it?", "--yes to drop it, or --dry-run to see what would go"))) {
      io.say("Nothing was changed.");
      return EXIT.nothing;
    }
  }
  const dropped = await withProgress(io, "Dropping", () => applyDrop(workspace, plan));
  if (options.json) {
    io.json({ plan: planned, dropped });
    return undefined;
  }
  io.print(`${io.out.paint("green", "Dropped")} ${dropped.name}.`);
  if (dropped.step !== null) io.print(`  Its last state is step ${io.out.paint("magenta", dropped.step)}.`);
  if (dropped.commits !== null) {
    io.print("  Its commits are kept; to have the branch again:");
    io.print(`    git branch ${printable(record.branch ?? dropped.name)} ${dropped.commits}`);
  }
  if (dropped.detached !== null) {
    io.print("  Commits that were on no branch are kept; to give them one:");
    io.print(`    git branch ${printable(`${record.branch ?? dropped.name}-detached`)} ${dropped.detached}`);
  }
  return undefined;
}

function show({ record, lost, changed, ownTip, ownHead }: DropPlan, channel: Channel): void {
  const { paint } = channel;
  const lines = [`${paint("bold", "Drop")} ${record.name}`];
  if (record.directory !== null) lines.push(`  ${paint("red", "-")} ${placeOf(record.directory, null)}`);
  if (record.branch !== null) lines.push(`  ${paint("red", "-")} branch ${printable(record.branch)}`);
  if (changed) lines.push("  Its files are saved as a step first.");
  if (ownTip !== null || ownHead !== null) lines.push("  Its commits are kept under a hidden name.");
  if (lost.length > 0) lines.push("", paint("bold", "Lost with it"));
  for (const { what, why } of lost) lines.push(`  ${paint("yellow", "!")} ${printable(what)}: ${printable(why)}`);
  channel.write(`${lines.join("\n")}\n`);
}
