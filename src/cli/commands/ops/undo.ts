/** `ops undo`: reverts one operation and keeps later changes. */

import { now } from "../../../base/clock.ts";
import { oneLine, printable } from "../../../base/text.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { findOperation } from "../../../restore/operations/list.ts";
import { applyFork, applyName, planTakeBack, type TakeBackPlan } from "../../../restore/operations/undo.ts";
import { applyRedo } from "../../../restore/redo.ts";
import type { RestorePlan } from "../../../restore/types.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { forkJson, madeJson } from "../../render/fork.ts";
import { placeOf } from "../../render/layout/location.ts";
import { age } from "../../render/layout/time.ts";
import { operationSentence } from "../../render/operations/sentence.ts";
import { noteText } from "../../render/words/restore/notes.ts";
import { confirmAndApply } from "../../shared/confirm-and-apply.ts";
import { ownExecutable } from "../../shared/executable.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import { confirm } from "../../terminal/ask.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Channel, Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { opsUndoCommand } from "./commands.ts";

type Options = OptionsOf<typeof opsUndoCommand>;

const QUESTION = "Undo?";
const DONE = "Undone";

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const operation = findOperation(workspace, options.operation);
  const markers = options.conflicts === "markers";
  const draft = () => withProgress(io, "Reading changes", () => planTakeBack(workspace, operation, { markers }));
  const planned = await draft();
  if (planned.kind === "restore") {
    let first: RestorePlan | null = planned.plan;
    const restore = {
      plan: async () => {
        const plan = first;
        first = null;
        if (plan) return plan;
        const again = await draft();
        if (again.kind !== "restore") throw new Error("A restore is taken back by a restore.");
        return again.plan;
      },
      apply: (plan: RestorePlan, agreed?: RestorePlan) => applyRedo(workspace, plan, agreed),
    };
    return confirmAndApply(io, restore, options, { question: QUESTION, done: DONE });
  }
  if (options.dryRun) {
    if (options.json) io.json({ plan: planJson(workspace, planned), receipt: null });
    else show(workspace, planned, io.out);
    return undefined;
  }
  if (!options.yes) {
    show(workspace, planned, io.err);
    if (!(await confirm(io, QUESTION, "--yes to continue, or --dry-run to see the plan"))) {
      io.say("Nothing was changed.");
      return EXIT.nothing;
    }
  }
  return apply(workspace, planned, options, io);
}

type OtherPlan = Exclude<TakeBackPlan, { kind: "restore" }>;

async function apply(workspace: Workspace, planned: OtherPlan, { json }: Options, io: Io): Promise<undefined> {
  const { paint } = io.out;
  const plan = planJson(workspace, planned);
  if (planned.kind === "name") {
    const { id } = await applyName(workspace, planned);
    if (json) io.json({ plan, receipt: { operation: id } });
    else {
      io.print(`${paint("green", DONE)}: ${nameChange(planned)}.`);
      io.print(paint("dim", `\`backtrail ops undo ${id}\` undoes this.`));
    }
    return;
  }
  const { id, made } = await withProgress(io, "Creating the fork again", () =>
    applyFork(workspace, planned, ownExecutable()),
  );
  const { record, notes } = made;
  if (json) {
    io.json({ plan, receipt: { operation: id, ...madeJson(made) } });
    return;
  }
  io.print(`${paint("green", DONE)}: the fork ${record.name} was created again.`);
  if (record.directory !== null) io.print(`  directory  ${placeOf(record.directory, null)}`);
  if (record.branch !== null) io.print(`  branch     ${printable(record.branch)}`);
  if (record.chat) io.print(`\nContinue the conversation with:\n  ${paint("bold", printable(record.chat.command))}`);
  for (const note of notes) io.say(`${io.err.paint("cyan", "note:")} ${printable(noteText(note))}`);
}

function show(workspace: Workspace, planned: OtherPlan, channel: Channel): void {
  const { paint } = channel;
  const { operation } = planned;
  const what = `${operationSentence(workspace, operation)} (${age(operation.time, now())})`;
  const lines = [`${paint("bold", "Undo")} ${operation.id}: ${what}`];
  if (planned.kind === "name") lines.push(`  ${nameChange(planned)}; no file changes`);
  else {
    const { directory, branch } = planned.drop.fork;
    if (directory !== null) lines.push(`  ${paint("green", "+")} ${placeOf(directory, null)}`);
    if (branch !== null) lines.push(`  ${paint("green", "+")} branch ${printable(branch)}`);
    lines.push("  This work tree does not change. Ignored files are not restored.");
  }
  channel.write(`${lines.join("\n")}\n`);
}

function nameChange({ step, name, gives }: Extract<OtherPlan, { kind: "name" }>): string {
  return gives
    ? `step ${step.id} is named "${oneLine(name)}" again`
    : `step ${step.id} loses the name "${oneLine(name)}"`;
}

function planJson(workspace: Workspace, planned: OtherPlan) {
  const { operation } = planned;
  const common = {
    operation: operation.id,
    kind: operation.kind,
    description: operationSentence(workspace, operation),
  };
  if (planned.kind === "name") return { ...common, step: planned.step.id, name: planned.gives ? planned.name : null };
  return { ...common, fork: forkJson(planned.drop.fork) };
}
