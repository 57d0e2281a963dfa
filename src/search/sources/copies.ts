/**
 * Finds conversations that Backtrail copied: a rewind, an undo or a fork writes one that begins as the original does. What
 * was said before the copy was made is indexed with the original alone.
 */
import { sessionKey } from "../../base/ids.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type SessionRef, sessionRefKey } from "../../model/session.ts";
import { loadSession } from "../../recording/session/store.ts";
import { type RestoreRecord, readRestores } from "../../restore/apply/restore-log.ts";
import { readOperations } from "../../restore/operations/records.ts";
import { listForks } from "../../steps/forks.ts";
import { stepsIn } from "../../steps/log.ts";

/** When each copy of a recorded session was made, in milliseconds since 1970, by the copy's `sessionRefKey`. */
export function copiesIn(workspace: Workspace): Map<string, number> {
  const copies = new Map<string, number>();
  const add = (copy: SessionRef, original: SessionRef | null, time: string) => {
    const made = Date.parse(time);
    if (original === null || original.session === copy.session || Number.isNaN(made)) return;
    // Where the original is not recorded, the copy is all that there is.
    if (loadSession(workspace, sessionKey(original.agent, original.session))?.transcript)
      copies.set(sessionRefKey(copy), made);
  };
  for (const record of readRestores(workspace)) {
    const { fork, time } = record;
    if (fork) add({ agent: fork.agent, session: fork.id }, originalOf(workspace, record, fork.agent), time);
  }
  // The agent's files still have the conversation of a fork that was dropped.
  const dropped = readOperations(workspace).flatMap((operation) => (operation.kind === "drop" ? [operation.fork] : []));
  for (const { chat, from, time } of [...listForks(workspace), ...dropped]) {
    if (!chat?.session || from.step === null) continue;
    add({ agent: chat.agent, session: chat.session }, sessionOf(workspace, from.step, chat.agent), time);
  }
  return copies;
}

function originalOf(workspace: Workspace, { target }: RestoreRecord, agent: string): SessionRef | null {
  if ("step" in target) return sessionOf(workspace, target.step, agent);
  return ("turns" in target && target.turns.find((each) => each.agent === agent)) || null;
}

/** Null if the step belongs to another agent: its conversation is handed over, not copied. */
function sessionOf(workspace: Workspace, id: string, agent: string): SessionRef | null {
  const step = stepsIn(workspace).byId(id);
  return step?.agent === agent && step.session !== null ? { agent, session: step.session } : null;
}
