/** Library API: planning a rewind, undo or redo, which changes nothing, and applying the plan. */

import type { Workspace } from "../../git/workspace.ts";
import * as redo from "../../restore/redo.ts";
import * as rewind from "../../restore/rewind.ts";
import { resolveTarget } from "../../restore/targets/resolve.ts";
import type { RestorePlan as InternalPlan } from "../../restore/types.ts";
import * as undo from "../../restore/undo.ts";
import { stepsIn } from "../../steps/log.ts";
import { notesJson, planJson } from "../json.ts";
import { ApiError } from "../problems.ts";
import type { ApplyOptions, Receipt, RestorePlan, RewindOptions, UndoOptions } from "../types.ts";
import { WORDS } from "../words.ts";

/** Maps the public plan to the internal one: only plans made here can be applied. */
const plans = new WeakMap<RestorePlan, InternalPlan>();

/**
 * Plans a rewind of code and conversation to a state. Accepts every target that `backtrail rewind` accepts: a step's
 * id, `last`, `prev`, a number of turns, `last-green`, a name, a session, a commit or a checkpoint. Nothing changes
 * until `applyRestore`.
 *
 * @example
 * const plan = await planRewind(workspace, "1", { paths: ["src"] });
 * console.log(plan.write, plan.delete, plan.notUndone);
 */
export async function planRewind(
  workspace: Workspace,
  target: string,
  options: RewindOptions = {},
): Promise<RestorePlan> {
  return publicPlan(await rewind.planRewind(workspace, await resolveTarget(workspace, target), options));
}

/**
 * Plans to undo single turns and keep all later changes, by a three-way merge. Each turn is named by one of its steps,
 * `last`, a number of turns back, a subagent's id or a session's id. If later changes touched the same lines, the plan
 * has `conflicts`, and `applyRestore` refuses it unless `markers` was set.
 *
 * @example
 * const plan = await planUndo(workspace, ["2"]);
 * if (plan.conflicts.length === 0) await applyRestore(workspace, plan);
 */
export async function planUndo(
  workspace: Workspace,
  turns: readonly string[],
  options: UndoOptions = {},
): Promise<RestorePlan> {
  const session = options.session === undefined ? undefined : stepsIn(workspace).sessionId(options.session);
  return publicPlan(await undo.planUndo(workspace, turns, { ...options, session }));
}

/**
 * Plans to revert the last rewind or undo. Repeated calls revert all of them, newest first. Throws a `UserError` of the
 * kind `not-found` if there is nothing to redo.
 *
 * @example
 * const receipt = await applyRestore(workspace, await planRedo(workspace));
 */
export async function planRedo(workspace: Workspace): Promise<RestorePlan> {
  return publicPlan(await redo.planRedo(workspace));
}

/**
 * Applies a plan. Saves the current state first, as the receipt's `safetyStep`, and journals every file: `planRedo`
 * reverts the restore, and the next process that opens the workspace finishes an interrupted restore. Checks the plan
 * again, because files may have changed since it was made; throws a `UserError` of the kind `refused`, with nothing
 * changed, if something is in the way. With `ifUnchanged`, throws a `PlanOutdated`, with nothing changed, if a plan made
 * now would be another one.
 *
 * @example
 * const { safetyStep, written, deleted, chat } = await applyRestore(workspace, plan);
 * if (chat) console.log(`Continue the conversation with: ${chat.command}`);
 */
export async function applyRestore(
  workspace: Workspace,
  plan: RestorePlan,
  { ifUnchanged = false }: ApplyOptions = {},
): Promise<Receipt> {
  const own = plans.get(plan);
  if (!own) throw new ApiError("usage", { kind: "foreign-plan" });
  const receipt = await rewind.applyRestore(workspace, own, ifUnchanged ? own : undefined);
  return { ...receipt, ...notesJson(receipt.notes) };
}

/** The plan's stable fields; `applyRestore` accepts only this object. */
export function publicPlan(plan: InternalPlan): RestorePlan {
  const { kind, restoresIndex, head } = plan;
  const shown: RestorePlan = { kind, ...planJson(plan), restoresIndex, head, chat: conversationPlan(plan.chat) };
  plans.set(shown, plan);
  return shown;
}

function conversationPlan(chat: InternalPlan["chat"]): RestorePlan["chat"] {
  if (chat.kind !== "none") return chat;
  return { kind: "none", reason: chat.reason.kind, why: WORDS.get().noConversation(chat.reason) };
}
