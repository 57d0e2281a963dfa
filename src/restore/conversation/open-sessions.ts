/** Notifies the sessions open in a restored work tree: each receives a notice with its next prompt. */
import { getAgent } from "../../agents/registry/registry.ts";
import { now } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { logError } from "../../base/log.ts";
import { loadConfig } from "../../config/load.ts";
import type { Workspace } from "../../git/workspace.ts";
import { openSessions } from "../../recording/notice.ts";
import { addNotice } from "../../recording/restore-notices.ts";
import { keyOf, loadSession, type SessionState } from "../../recording/session/store.ts";
import type { Journal } from "../apply/journal.ts";
import { mergeOf } from "../apply/restore-log.ts";
import type { OpenSession } from "../types.ts";

/** Writes the journal's notice for each session. A failed write does not fail the restore. */
export async function notifyOpenSessions(workspace: Workspace, journal: Journal): Promise<OpenSession[]> {
  const { notice } = journal;
  if (notice === undefined) return [];
  const wanted = loadConfig(workspace).notify_agents;
  const sessions: OpenSession[] = [];
  for (const state of openSessions(workspace, null)) {
    const agent = await getAgent(state.agent, workspace);
    const takesContext = agent?.profile.hooks?.context_reply !== undefined;
    sessions.push({
      agent: state.agent,
      name: agent?.profile.display_name ?? state.agent,
      session: state.id,
      title: state.title,
      working: state.openTurn !== null,
      notified: wanted && takesContext && write(workspace, state, journal, notice),
    });
  }
  await notifyProposer(workspace, journal, sessions, wanted);
  return sessions;
}

/** The session that proposed the restore may be closed by now: its next prompt carries the notice all the same. */
async function notifyProposer(
  workspace: Workspace,
  journal: Journal,
  open: readonly OpenSession[],
  wanted: boolean,
): Promise<void> {
  const { notice } = journal;
  const state = notice?.to === undefined ? undefined : loadSession(workspace, notice.to);
  if (!wanted || !notice || !state || open.some(({ agent, session }) => agent === state.agent && session === state.id))
    return;
  const agent = await getAgent(state.agent, workspace);
  if (agent?.profile.hooks?.context_reply !== undefined) write(workspace, state, journal, notice);
}

function write(
  workspace: Workspace,
  state: SessionState,
  { id: restore, record }: Journal,
  { text, quotes }: NonNullable<Journal["notice"]>,
): boolean {
  try {
    // Conflict markers make a reversal differ from what it reverts.
    const takesBack = record.takesBack !== null && !mergeOf(record)?.markers ? { takesBack: record.takesBack } : {};
    addNotice(workspace, keyOf(state), { restore, ...takesBack, time: now().toISOString(), text, quotes });
    return true;
  } catch (error) {
    logError("notice for an open session", messageOf(error));
    return false;
  }
}
