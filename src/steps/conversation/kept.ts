/**
 * The conversations of sessions whose steps have expired: `kept.jsonl` beside a conversation has the records of the
 * turns that expired, so that the conversation can still be found, shown and resumed. See docs/formats/steps.md.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { sessionKey } from "../../base/ids.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { isTurnStep } from "../../model/turn.ts";
import { appendRecord, recordsNewestFirst } from "../index-file.ts";
import { stepsIn } from "../log.ts";
import { conversationDirectory, conversationKeys, KEPT_RECORDS } from "./files.ts";

type Store = Pick<Workspace, "storeDir">;

export interface KeptSession {
  key: string;
  agent: string;
  session: string;
  /** Newest first, never empty. Their code states are gone. */
  steps: Step[];
}

function keptFile(workspace: Store, key: string): string {
  return join(conversationDirectory(workspace, key), KEPT_RECORDS);
}

export function isKept(workspace: Store, key: string): boolean {
  return existsSync(keptFile(workspace, key));
}

/** Repeating this after a kill changes nothing: readers ignore duplicates. */
export function keepRecords(workspace: Store, key: string, steps: readonly Step[]): void {
  for (const step of steps)
    if (isTurnStep(step) && step.transcript) appendRecord(keptFile(workspace, key), { ...step, name: null });
}

/** Sessions that have a conversation but no steps. */
export function keptSessions(workspace: Workspace): KeptSession[] {
  const keys = conversationKeys(workspace).filter((key) => isKept(workspace, key));
  if (keys.length === 0) return [];
  const alive = new Set<string>();
  for (const { agent, session } of stepsIn(workspace).newestFirst())
    if (agent !== null && session !== null) alive.add(sessionKey(agent, session));
  return keys.flatMap((key) => (alive.has(key) ? [] : (keptSession(workspace, key) ?? [])));
}

/** The kept records of all sessions, also of those that still have steps. */
export function keptRecords(workspace: Store): Step[] {
  return conversationKeys(workspace).flatMap((key) => keptSession(workspace, key)?.steps ?? []);
}

/** When the last kept turn was recorded. */
export function lastKeptTime(workspace: Store, key: string): string | undefined {
  return keptSession(workspace, key)?.steps[0]?.time;
}

/** The kept records of a session, newest first; none if it has no such conversation. */
export function keptSteps(workspace: Store, agent: string, session: string): Step[] {
  return keptSession(workspace, sessionKey(agent, session))?.steps ?? [];
}

function keptSession(workspace: Store, key: string): KeptSession | undefined {
  const steps = [...recordsNewestFirst(keptFile(workspace, key))];
  const [newest] = steps;
  if (!newest || newest.agent === null || newest.session === null) return undefined;
  return { key, agent: newest.agent, session: newest.session, steps };
}
