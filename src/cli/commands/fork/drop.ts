/** `fork drop`: removes a fork and keeps its last state. */

import { UserError } from "../../../base/errors.ts";
import { plural, printable, shownPath } from "../../../base/text.ts";
import { leftFiles } from "../../../restore/fork/drop/clear.ts";
import { applyDrop, type DropPlan, type Dropped, mustAsk, planDrop } from "../../../restore/fork/drop/drop.ts";
import { findFork } from "../../../restore/fork/find.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { forkJson } from "../../render/fork.ts";
import { placeOf } from "../../render/layout/location.ts";
import { dropRiskRow, ownWorkText } from "../../render/words/restore/forks.ts";
import { noteText } from "../../render/words/restore/notes.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import { confirm } from "../../terminal/ask.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Channel, Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { forkDropCommand } from "./commands.ts";

type Options = OptionsOf<typeof forkDropCommand>;

const MAX_SHOWN = 5;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const plan = await withProgress(io, "Reading the fork", async () =>
    planDrop(workspace, await findFork(workspace, options.fork, "exact")),
  );
  if (options.dryRun) {
    if (options.json) io.json({ plan: planJson(plan), dropped: null });
    else show(plan, io.out);
    return undefined;
  }
  if (mustAsk(plan) && !options.yes) {
    show(plan, io.err);
    if (!(await agreed(plan, io))) {
      io.say("Nothing was changed.");
      return EXIT.nothing;
    }
  }
  const dropped = await withProgress(io, "Dropping", () => applyDrop(workspace, plan));
  if (options.json) io.json({ plan: planJson(plan), dropped });
  else report(plan, dropped, io);
  return undefined;
}

/** Without a terminal this is a refusal, not a usage error: the command was valid, but would delete work. */
async function agreed({ record }: DropPlan, io: Io): Promise<boolean> {
  if (io.interactive) return confirm(io, "Drop it anyway?", "--yes");
  throw new UserError(
    "refused",
    `The fork ${record.name} was not dropped: the list above needs your confirmation, and there is no terminal to ask on.`,
    "Give --yes to drop it, or --dry-run to see what would be deleted.",
  );
}

function planJson({ record, lost, kept, changed, hidden, commits, notes, directory }: DropPlan) {
  const { tip, head, others, refs } = commits;
  return {
    fork: forkJson(record),
    directory,
    lost: lost.map(dropRiskRow),
    kept: kept.map((each) => ({ ...each, kind: each.why, why: ownWorkText(each.why) })),
    changed,
    hidden,
    ownCommits: tip,
    ownHead: head,
    reflogCommits: others,
    ownRefs: refs.map(({ name }) => name),
    notes: notes.map(noteText),
    facts: notes,
  };
}

function report({ record, notes }: DropPlan, dropped: Dropped, io: Io): void {
  const { paint } = io.out;
  io.print(`${paint("green", "Dropped")} ${dropped.name}.`);
  if (dropped.step !== null) io.print(`  Its last state is step ${paint("magenta", dropped.step)}.`);
  const branch = printable(record.branch ?? dropped.name);
  if (dropped.commits !== null) {
    io.print("  Its commits are kept. Restore the branch with:");
    io.print(`    git branch ${branch} ${dropped.commits}`);
  }
  if (dropped.detached !== null) {
    io.print("  Commits without a branch are kept. Put them on a branch with:");
    io.print(`    git branch ${branch}-detached ${dropped.detached}`);
  }
  if (dropped.reflog !== null) {
    io.print("  Commits that were only in its reflog are kept. List them with:");
    io.print(`    git log ${dropped.reflog}`);
  }
  for (const ref of dropped.refs) io.print(`  Its own ref is kept: ${printable(ref)}`);
  if (dropped.staged !== null) io.print(`  Its staged changes are kept: git ls-tree -r ${dropped.staged}`);
  for (const { path, directory } of dropped.kept) {
    io.print(`  The repository ${shownPath(path)} is kept in ${placeOf(directory, null)}`);
  }
  const left = leftFiles(dropped.left);
  for (const note of [...notes, ...(left ? [left] : [])]) io.say(`${io.err.paint("cyan", "note:")} ${noteText(note)}`);
}

function listed(paths: readonly string[]): string {
  const more = paths.length - MAX_SHOWN;
  const shown = paths.slice(0, MAX_SHOWN).map((path) => shownPath(path));
  return more > 0 ? `${shown.join(", ")} and ${plural(more, "more file")}` : shown.join(", ");
}

function show({ record, directory, lost, kept, changed, hidden, commits, notes }: DropPlan, channel: Channel): void {
  const { paint } = channel;
  const lines = [`${paint("bold", "Drop")} ${record.name}`];
  if (directory !== null) lines.push(`  ${paint("red", "-")} ${placeOf(directory, null)}`);
  if (record.branch !== null) lines.push(`  ${paint("red", "-")} branch ${printable(record.branch)}`);
  if (changed) lines.push("  Its files are saved as a step first.");
  if (hidden.length > 0) lines.push(`  This includes ${listed(hidden)}, which git does not show.`);
  const { tip, head, others, refs } = commits;
  if (tip !== null || head !== null || others.length + refs.length > 0)
    lines.push("  Its commits are kept under a hidden ref.");
  for (const note of notes) lines.push(`  ${noteText(note)}`);
  if (kept.length > 0) lines.push("", paint("bold", "Moved out of it"));
  for (const each of kept) {
    lines.push(
      `  ${paint("yellow", "!")} ${shownPath(each.path)} goes to ${placeOf(each.directory, null)}: ${ownWorkText(each.why)}`,
    );
  }
  if (lost.length > 0) lines.push("", paint("bold", "Lost, or still in use"));
  for (const { what, why } of lost.map(dropRiskRow))
    lines.push(`  ${paint("yellow", "!")} ${printable(what)}: ${printable(why)}`);
  channel.write(`${lines.join("\n")}\n`);
}
