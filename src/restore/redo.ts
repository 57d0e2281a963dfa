/** Takes restores back, the last one first: to its safety step, and to the conversation that was current then. */
import { existsSync } from "node:fs";
import { getAgent } from "../agents/registry.ts";
import { UserError } from "../base/errors.ts";
import type { Workspace } from "../git/workspace.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import { findStep } from "../steps/list.ts";
import type { Step } from "../steps/model.ts";
import { planChat } from "./chat.ts";
import type { ChatPlan, Receipt, RewindOptions, RewindPlan } from "./model.ts";
import { type RestoreRecord, standingRestores } from "./records.ts";
import { applyRestore, planRestore } from "./rewind.ts";
import { bringingBack } from "./undo.ts";

export async function planRedo(workspace: Workspace): Promise<RewindPlan> {
  const record = standingRestores(workspace).at(-1);
  if (!record)
    throw new UserError(
      "not-found",
      "There is no rewind or undo to take back.",
      "`backtrail log` shows every step that can be gone to.",
    );
  const step = findStep(workspace, record.safetyStep);
  if (!step) {
    throw new UserError(
      "not-found",
      `Step ${record.safetyStep}, which was saved before the last ${record.kind}, is gone.`,
      "`backtrail log` shows what is left.",
    );
  }
  const options: RewindOptions = {
    codeOnly: record.scope === "code" || record.scope === "paths",
    chatOnly: record.scope === "chat",
    paths: record.paths ?? [],
    resetHead: record.head !== null,
  };
  return planRestore(workspace, {
    kind: "redo",
    target: { kind: "step", step },
    options,
    takesBack: record.id,
    merge: await bringingBack(workspace, record, step),
    chat: await chatOf(workspace, record),
  });
}

export async function applyRedo(workspace: Workspace, plan: RewindPlan): Promise<Receipt> {
  return applyRestore(workspace, plan);
}

/** The session that was left for the fork is still there, whole; or its agent cleared it away, and we have it. */
async function chatOf(workspace: Workspace, record: RestoreRecord): Promise<ChatPlan> {
  if (!record.session || !record.fork) return { kind: "none", why: "The conversation was not changed." };
  const { agent: id, id: session, transcript } = record.session;
  const agent = await getAgent(id);
  if (!agent?.forker) return { kind: "none", why: "The conversation was not changed." };
  const stored = existsSync(transcript) ? undefined : newestWithChat(workspace, id, session);
  if (stored) return planChat(workspace, stored);
  return { kind: "resume", agent: id, session, transcript, command: agent.forker.resumeCommand(session) };
}

function newestWithChat(workspace: Workspace, agent: string, session: string): Step | undefined {
  for (const step of stepsNewestFirst(workspace)) {
    if (step.agent === agent && step.session === session && step.transcript) return step;
  }
  return undefined;
}
