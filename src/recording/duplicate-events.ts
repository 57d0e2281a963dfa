/** Detects duplicate and out-of-order events: each hook is a separate process, and agents do not order them. */
import type { Event } from "../model/event.ts";
import { promptOf } from "./session/session.ts";
import type { SessionState } from "./session/store.ts";

/** Hooks that are installed twice report the same event within this time. */
const SAME_EVENT_MS = 2_000;
const RECENT_EVENTS = 20;

/** Some agents call the prompt hook without waiting for the session-start hook to finish. */
export function isLateSessionStart(state: SessionState, event: Event): boolean {
  return event.type === "SessionStart" && isOlderThanTurn(state, event);
}

/** Agents do not wait for the interrupt hook: the next prompt may arrive first and will have closed the turn. */
export function isLateInterrupt(state: SessionState, event: Event): boolean {
  return event.type === "TurnEnd" && event.metadata["error"] === "interrupted" && isOlderThanTurn(state, event);
}

function isOlderThanTurn({ openTurn }: SessionState, { timestamp }: Event): boolean {
  return openTurn !== null && timestamp < openTurn.startedAt;
}

/** An agent with our hooks in both the user and the project settings reports every event twice. */
export function isDuplicateEvent(state: SessionState, event: Event, time: string): boolean {
  if (event.type === "TurnStart") return isOpenPrompt(state, event, time);
  if (event.type === "TurnEnd" || event.type === "SessionEnd") return false;
  const what = nameOf(event);
  const recent = state.recent ?? [];
  const isRecent = (then: { what: string; time: string } | undefined) =>
    then?.what === what && Date.parse(time) - Date.parse(then.time) < SAME_EVENT_MS;
  if (event.tool?.id) return recent.some((then) => then.what === what);
  return event.subagent ? recent.some(isRecent) : isRecent(recent.at(-1));
}

function isOpenPrompt(state: SessionState, event: Event, time: string): boolean {
  const turn = state.openTurn;
  if (!turn) return false;
  const id = event.metadata["prompt_id"];
  if (id !== undefined && turn.promptId !== null) return id === turn.promptId && promptOf(event) === turn.prompt;
  // The prompt may come from the transcript, if the agent's hooks have none.
  const isSame = [turn.prompt, null].includes(promptOf(event));
  return isSame && Date.parse(time) - Date.parse(turn.startedAt) < SAME_EVENT_MS;
}

function nameOf(event: Event): string {
  return JSON.stringify([event.type, event.tool?.id, event.subagent?.id, event.metadata["source"]]);
}

/** Records the event so that `isDuplicateEvent` can recognize a repeat. */
export function rememberEvent(state: SessionState, event: Event, time: string): void {
  state.recent = [...(state.recent ?? []), { what: nameOf(event), time }].slice(-RECENT_EVENTS);
}
