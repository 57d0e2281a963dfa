/** Reverts a single operation of any kind and keeps everything done since. */

import { now } from "../../base/clock.ts";
import { newStepId } from "../../base/ids.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { stepsIn } from "../../steps/log.ts";
import { renameStep } from "../../steps/names/rename.ts";
import { activeRestores } from "../apply/restore-log.ts";
import { bringBackFork } from "../fork/bring-back.ts";
import type { MadeFork } from "../fork/make.ts";
import { RestoreError } from "../problems.ts";
import { planReverse } from "../redo.ts";
import type { RestorePlan } from "../types.ts";
import { listOperations, type Operation } from "./list.ts";
import { appendOperation, type DropRecord } from "./records.ts";

/** How an operation is reverted. */
export type TakeBackPlan =
  | { kind: "restore"; operation: Operation; plan: RestorePlan }
  /** The step loses or regains its name. */
  | { kind: "name"; operation: Operation; step: Step; name: string; gives: boolean }
  | { kind: "fork"; operation: Operation; drop: DropRecord };

export interface TakeBackOptions {
  markers?: boolean;
}

export async function planTakeBack(
  workspace: Workspace,
  operation: Operation,
  { markers = false }: TakeBackOptions = {},
): Promise<TakeBackPlan> {
  if (operation.takenBackBy !== null) {
    throw new RestoreError("not-found", {
      kind: "operation-reverted",
      operation: operation.kind,
      id: operation.id,
      by: operation.takenBackBy,
    });
  }
  if (operation.kind === "save") return planName(operation, operation.step, operation.name, false);
  if (operation.kind === "drop") return { kind: "fork", operation, drop: operation.drop };
  if (operation.restore) {
    const { restore } = operation;
    // A branch can't be merged: it can only be moved back if nothing was done since.
    const movesBranch = restore.head !== null;
    if (movesBranch && activeRestores(workspace).at(-1)?.id !== restore.id)
      throw new RestoreError("refused", {
        kind: "branch-moved-since",
        restore: restore.id,
        safetyStep: restore.safetyStep,
      });
    return {
      kind: "restore",
      operation,
      plan: await planReverse(workspace, restore, { keepLater: !movesBranch, markers }),
    };
  }
  const { record } = operation;
  if (record.what === "drop") throw new RestoreError("usage", { kind: "fork-made-again", fork: record.fork });
  const step = stepsIn(workspace).byId(record.step);
  if (!step) throw new RestoreError("not-found", { kind: "step-gone", step: record.step });
  return planName(operation, step, record.name, !isGiving(workspace, operation));
}

export interface Reverted {
  /** The id of the new operation. */
  id: string;
}

/** Restores are applied by `applyRestore` instead. */
export async function applyName(
  workspace: Workspace,
  { operation, step, name, gives }: Extract<TakeBackPlan, { kind: "name" }>,
): Promise<Reverted> {
  await renameStep(workspace, step, gives ? name : null);
  return note(workspace, { kind: "redo", takesBack: operation.id, what: "save", step: step.id, name });
}

export async function applyFork(
  workspace: Workspace,
  { operation, drop }: Extract<TakeBackPlan, { kind: "fork" }>,
  executable: string,
): Promise<Reverted & { made: MadeFork }> {
  const id = newStepId();
  return { id, made: await bringBackFork(workspace, drop, executable, { drop: operation.id, operation: id }) };
}

function planName(operation: Operation, step: Step, name: string | null, gives: boolean): TakeBackPlan {
  if (name !== null) return { kind: "name", operation, step, name, gives };
  throw new RestoreError("not-found", { kind: "nothing-named", step: step.id });
}

/** True if an operation gave a step its name: a save does, its reversal does not, and so on. */
function isGiving(workspace: Workspace, operation: Operation): boolean {
  const all = new Map(listOperations(workspace).map((one) => [one.id, one]));
  let gives = true;
  for (let at: Operation | undefined = operation; at && at.takesBack !== null; at = all.get(at.takesBack))
    gives = !gives;
  return gives;
}

type Noted = Parameters<typeof appendOperation>[1] extends infer Each
  ? Each extends { v: 1 }
    ? Omit<Each, "v" | "id" | "time">
    : never
  : never;

function note(workspace: Workspace, what: Noted): Reverted {
  const id = newStepId();
  appendOperation(workspace, { v: 1, id, time: now().toISOString(), ...what } as Parameters<typeof appendOperation>[1]);
  return { id };
}
