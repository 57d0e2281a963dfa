/**
 * Finds conversations that Backtrail copied: a rewind, an undo or a fork writes one that begins as the original does. What
 * was said before the copy was made is indexed with the original alone.
 */
import type { Workspace } from "../../git/workspace.ts";
import { sessionRefKey } from "../../model/session.ts";
import { listSessions } from "../../recording/session/store.ts";
import { type RestoreRecord, readRestores } from "../../restore/apply/restore-log.ts";
import { listForks } from "../../steps/forks.ts";
import { stepsIn } from "../../steps/log.ts";

/** When each copy of a recorded session was made, in milliseconds since 1970, by the copy's `sessionRefKey`. */
export function copiesIn(workspace: Workspace): Map<string, number> {
  const copies = new Map<string, number>();
  const recorded = new Set(listSessions(workspace).flatMap((state) => (state.transcript ? [keyOf(state)] : [])));
  const add = (copy: string, original: string | null, time: string) => {
    const made = Date.parse(time);
    // Where the original is not recorded, the copy is all that there is.
    if (original !== null && original !== copy && recorded.has(original) && !Number.isNaN(made)) copies.set(copy, made);
  };
  for (const record of readRestores(workspace)) {
    if (record.fork) add(keyOf(record.fork), originalOf(workspace, record, record.fork.agent), record.time);
  }
  for (const { chat, from, time } of listForks(workspace)) {
    if (!chat?.session) continue;
    const key = sessionRefKey({ agent: chat.agent, session: chat.session });
    add(key, from.step === null ? null : sessionOf(workspace, from.step, chat.agent), time);
  }
  return copies;
}

function originalOf(workspace: Workspace, { target }: RestoreRecord, agent: string): string | null {
  if ("step" in target) return sessionOf(workspace, target.step, agent);
  const turn = "turns" in target ? target.turns.find((each) => each.agent === agent) : undefined;
  return turn ? sessionRefKey(turn) : null;
}

/** Null if the step belongs to another agent, whose conversation is handed over and not copied. */
function sessionOf(workspace: Workspace, id: string, agent: string): string | null {
  const step = stepsIn(workspace).byId(id);
  return step?.agent === agent && step.session !== null ? sessionRefKey(step) : null;
}

function keyOf({ agent, id }: { agent: string; id: string }): string {
  return sessionRefKey({ agent, session: id });
}
