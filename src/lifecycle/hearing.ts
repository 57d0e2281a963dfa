/** Events that come twice, or behind a later one: hooks are processes, and nobody keeps them in order. */
import type { Event } from "../agents/event.ts";
import { promptOf } from "./session.ts";
import type { SessionState } from "./session-state.ts";

/** Two hooks that tell of the same event (installed twice) come within this time. */
const SAME_EVENT_MS = 2_000;
const RECENT_EVENTS = 20;

/** Some agents don't wait for the session's first hook before they call the prompt's. */
export function isOvertaken(state: SessionState, event: Event): boolean {
  return event.type === "SessionStart" && isOlderThanTurn(state, event);
}

/** An interruption is told without anybody waiting for the hook: the next prompt may come first, and has closed its turn. */
export function isOfTurnBefore(state: SessionState, event: Event): boolean {
  return event.type === "TurnEnd" && event.metadata["error"] === "interrupted" && isOlderThanTurn(state, event);
}

function isOlderThanTurn({ openTurn }: SessionState, { timestamp }: Event): boolean {
  return openTurn !== null && timestamp < openTurn.startedAt;
}

/** An agent may have our hooks twice (for the user and for the project), and then tells everything twice. */
export function isRepeated(state: SessionState, event: Event, time: string): boolean {
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
  return promptOf(event) === turn.prompt && Date.parse(time) - Date.parse(turn.startedAt) < SAME_EVENT_MS;
}

function nameOf(event: Event): string {
  return JSON.stringify([event.type, event.tool?.id, event.subagent?.id, event.metadata["source"]]);
}

/** What a repetition is known by. */
export function rememberHearing(state: SessionState, event: Event, time: string): void {
  state.recent = [...(state.recent ?? []), { what: nameOf(event), time }].slice(-RECENT_EVENTS);
}
