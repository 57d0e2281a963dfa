/** Reverts restores, newest first: returns to the safety step and to the conversation that was current then. */

import { existsSync } from "node:fs";
import { getAgent } from "../agents/registry/registry.ts";
import type { Workspace } from "../git/workspace.ts";
import { shownCommand } from "../model/command.ts";
import { stepsIn } from "../steps/log.ts";
import { activeRestores, mergeOf, type RestoreRecord, readRestores } from "./apply/restore-log.ts";
import { planChat } from "./conversation/fork.ts";
import { reversalOf } from "./operations/reversal.ts";
import { changeMadeBy, safetyStepOf } from "./operations/reverse.ts";
import { RestoreError } from "./problems.ts";
import { applyRestore, planRestore } from "./rewind.ts";
import type { ChatPlan, Receipt, RestorePlan, RewindOptions } from "./types.ts";

export interface ReverseOptions {
  /** Revert only the restore's changes and keep later ones; otherwise the files return to the state before it. */
  keepLater: boolean;
  /** Write conflict markers into the files instead of refusing. */
  markers?: boolean;
}

/** Plans to revert the newest effective restore. An undo or a take, which merged, is reverted by a merge. */
export async function planRedo(
  workspace: Workspace,
  { markers = false }: Pick<ReverseOptions, "markers"> = {},
): Promise<RestorePlan> {
  const record = activeRestores(workspace).at(-1);
  if (!record) {
    const isAllRedone = readRestores(workspace).some(({ kind }) => kind === "redo");
    throw new RestoreError("not-found", { kind: "nothing-to-redo", isAllRedone });
  }
  return planReverse(workspace, record, { keepLater: mergeOf(record) !== null, markers });
}

export async function planReverse(
  workspace: Workspace,
  record: RestoreRecord,
  { keepLater, markers = false }: ReverseOptions,
): Promise<RestorePlan> {
  const step = safetyStepOf(workspace, record);
  const reverses = reversalOf(workspace, record, keepLater);
  const merged = keepLater && record.scope !== "chat";
  const options: RewindOptions = {
    codeOnly: record.scope === "code" || record.scope === "paths",
    chatOnly: record.scope === "chat",
    paths: record.paths ?? [],
    resetHead: record.head !== null && !merged,
  };
  return planRestore(workspace, {
    kind: "redo",
    target: { kind: "step", step },
    options,
    takesBack: record.id,
    merge: merged
      ? { changes: [await changeMadeBy(workspace, record)], shared: [], markers, later: reverses.since.toReversed() }
      : null,
    chat: await chatOf(workspace, record, merged && reverses.since.length > 0),
    reverses,
  });
}

export async function applyRedo(workspace: Workspace, plan: RestorePlan, agreed?: RestorePlan): Promise<Receipt> {
  return applyRestore(workspace, plan, agreed);
}

/** Continues the session that was current before the restore; if the agent deleted its transcript, forks our copy. */
async function chatOf(workspace: Workspace, record: RestoreRecord, wentOn: boolean): Promise<ChatPlan> {
  if (!record.session || !record.fork) return { kind: "none", reason: { kind: "unchanged" } };
  if (wentOn)
    return {
      kind: "none",
      reason: { kind: "went-on", session: record.session.id },
    };
  const { agent: id, id: session, transcript } = record.session;
  const agent = await getAgent(id);
  if (!agent?.forker) return { kind: "none", reason: { kind: "unchanged" } };
  const stored = existsSync(transcript)
    ? undefined
    : stepsIn(workspace).newest({ agent: id, session, hasTranscript: true });
  if (stored) return planChat(workspace, stored);
  return { kind: "resume", agent: id, session, transcript, ...shownCommand(agent.forker.resumeCommand(session)) };
}
