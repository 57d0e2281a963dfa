/** The picker as a pure state machine: a state and a key give the next state, or the end. */
import { matching, type PickerEntry } from "./entries.ts";
import { edited, isCancel, type Key, movement } from "./keys.ts";

export interface PickerState {
  entries: readonly PickerEntry[];
  query: string;
  matches: readonly PickerEntry[];
  cursor: number;
  /** Picks the state after the turn instead of before it. */
  after: boolean;
  /** Whether the user can choose between before and after a turn. */
  sides: boolean;
  /** The number of preview lines scrolled past. */
  scrolled: number;
}

export type Outcome = { state: PickerState } | { picked: PickerEntry; after: boolean } | { canceled: true };

const SCROLL = 5;

export function begin(entries: readonly PickerEntry[], sides = true): PickerState {
  return { entries, query: "", matches: entries, cursor: 0, after: false, sides, scrolled: 0 };
}

export function press(state: PickerState, key: Key): Outcome {
  const { name = "" } = key;
  if (isCancel(key)) return { canceled: true };
  if (name === "return" || name === "enter") {
    const picked = state.matches[state.cursor];
    return picked ? { picked, after: state.after } : { state };
  }
  const by = movement(key);
  if (by !== undefined) return moved(state, by);
  if (name === "right") return { state: { ...state, scrolled: state.scrolled + SCROLL } };
  if (name === "left") return { state: { ...state, scrolled: Math.max(0, state.scrolled - SCROLL) } };
  if (name === "tab") return { state: { ...state, after: state.sides && !state.after } };
  const query = edited(state.query, key);
  return { state: query === undefined ? state : filtered(state, query) };
}

function moved(state: PickerState, by: number): Outcome {
  const last = Math.max(0, state.matches.length - 1);
  const cursor = Math.min(last, Math.max(0, state.cursor + by));
  return { state: { ...state, cursor, scrolled: 0 } };
}

/** The entry under the cursor stays selected as long as it matches. */
function filtered(state: PickerState, query: string): PickerState {
  const current = state.matches[state.cursor];
  const matches = matching(state.entries, query);
  const at = current ? matches.indexOf(current) : -1;
  return { ...state, query, matches, cursor: Math.max(0, at), scrolled: 0 };
}
