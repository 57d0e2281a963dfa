/** The picker as a pure state machine: a state and a key give the next state, or the end. */
import { matching, type PickerEntry } from "./entries.ts";

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

export interface Key {
  name?: string;
  ctrl?: boolean;
  meta?: boolean;
  sequence?: string;
}

export type Outcome = { state: PickerState } | { picked: PickerEntry; after: boolean } | { cancelled: true };

const PAGE = 10;
const SCROLL = 5;

export function begin(entries: readonly PickerEntry[], sides = true): PickerState {
  return { entries, query: "", matches: entries, cursor: 0, after: false, sides, scrolled: 0 };
}

export function press(state: PickerState, key: Key): Outcome {
  const { name = "", ctrl = false } = key;
  if (name === "escape" || (ctrl && (name === "c" || name === "d" || name === "g"))) return { cancelled: true };
  if (name === "return" || name === "enter") {
    const picked = state.matches[state.cursor];
    return picked ? { picked, after: state.after } : { state };
  }
  if (name === "up" || (ctrl && name === "p")) return moved(state, -1);
  if (name === "down" || (ctrl && name === "n")) return moved(state, 1);
  if (name === "pageup") return moved(state, -PAGE);
  if (name === "pagedown") return moved(state, PAGE);
  if (name === "home") return moved(state, -state.matches.length);
  if (name === "end") return moved(state, state.matches.length);
  if (name === "right") return { state: { ...state, scrolled: state.scrolled + SCROLL } };
  if (name === "left") return { state: { ...state, scrolled: Math.max(0, state.scrolled - SCROLL) } };
  if (name === "tab") return { state: { ...state, after: state.sides && !state.after } };
  if (name === "backspace") return { state: filtered(state, [...state.query].slice(0, -1).join("")) };
  if (ctrl && name === "u") return { state: filtered(state, "") };
  if (ctrl && name === "w") return { state: filtered(state, withoutLastWord(state.query)) };
  const typed = key.sequence ?? "";
  if (ctrl || key.meta || !isText(typed)) return { state };
  return { state: filtered(state, state.query + typed) };
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

function isText(sequence: string): boolean {
  return sequence !== "" && !/\p{Cc}/u.test(sequence);
}

function withoutLastWord(query: string): string {
  return query.slice(0, query.trimEnd().lastIndexOf(" ") + 1);
}
