/** The picker of a search as a pure state machine: the query, the hits, and the effect of a key. */
import { FILTER_NAMES } from "../../../search/query/parse.ts";
import type { FoundHit } from "../../../search/results/search.ts";
import { edited, isCancel, type Key, movement } from "../keys.ts";

/** What can be done with a hit. */
export const ACTIONS = ["show", "resume", "rewind", "fork", "id"] as const;
export type Action = (typeof ACTIONS)[number];

export interface HitPickerState {
  query: string;
  hits: readonly FoundHit[];
  /** All matching texts. */
  total: number;
  cursor: number;
  /** How many lines the preview is moved down from the match. */
  scrolled: number;
  /** A message instead of the help line, until the next key. */
  notice: string | null;
}

export interface PickedHit {
  action: Action;
  hit: FoundHit;
}

export type Outcome = { state: HitPickerState } | { picked: PickedHit } | { canceled: true };

const SCROLL = 5;
const KEYS: Readonly<Record<string, Action>> = { o: "resume", r: "rewind", f: "fork", y: "id" };

export function beginSearch(query: string): HitPickerState {
  return { query, hits: [], total: 0, cursor: 0, scrolled: 0, notice: null };
}

export function press(before: HitPickerState, key: Key): Outcome {
  const state = { ...before, notice: null };
  if (isCancel(key)) return { canceled: true };
  const action = actionOf(key);
  if (action !== undefined) return acted(state, action);
  const by = movement(key);
  if (by !== undefined) {
    const cursor = Math.min(Math.max(0, state.hits.length - 1), Math.max(0, state.cursor + by));
    return { state: { ...state, cursor, scrolled: 0 } };
  }
  if (key.name === "right") return { state: { ...state, scrolled: state.scrolled + SCROLL } };
  if (key.name === "left") return { state: { ...state, scrolled: state.scrolled - SCROLL } };
  const query = edited(state.query, key);
  return { state: query === undefined ? state : { ...state, query } };
}

/** The hit under the cursor stays selected while the query matches it. */
export function withHits(state: HitPickerState, hits: readonly FoundHit[], total: number): HitPickerState {
  const chosen = state.hits[state.cursor]?.document;
  const at = hits.findIndex(({ document }) => document === chosen);
  return { ...state, hits, total, cursor: Math.max(0, at), scrolled: at < 0 ? 0 : state.scrolled };
}

/** Why an action can't be taken; null if it can. */
export function obstacle({ fate }: Pick<FoundHit, "fate">, action: Action): string | null {
  if (fate !== null || (action !== "rewind" && action !== "fork")) return null;
  return action === "rewind"
    ? "Backtrail did not record this turn, so there is nothing to rewind to."
    : "Backtrail did not record this turn, so there is nothing to fork from.";
}

/** While the last word is being typed, it is found by its beginning; a filter that has no value yet is left out. */
export function asTyped(query: string): string {
  const filter = unfinishedFilter(query);
  if (filter !== undefined) return query.slice(0, -`${filter}:`.length);
  const isQuoted = (query.match(/"/g)?.length ?? 0) % 2 === 1;
  return !isQuoted && /(?:^|\s)-?[\p{L}\p{N}_$]{2,}$/u.test(query) ? `${query}*` : query;
}

/** The filter at the end of the query, if its value is not typed yet. */
export function unfinishedFilter(query: string): (typeof FILTER_NAMES)[number] | undefined {
  const typed = /(?:^|\s)([a-z]+):$/.exec(query)?.[1];
  return FILTER_NAMES.find((name) => name === typed);
}

function actionOf({ name = "", ctrl = false }: Key): Action | undefined {
  if (name === "return" || name === "enter") return "show";
  return ctrl ? KEYS[name] : undefined;
}

function acted(state: HitPickerState, action: Action): Outcome {
  const hit = state.hits[state.cursor];
  if (!hit) return { state };
  const notice = obstacle(hit, action);
  return notice === null ? { picked: { action, hit } } : { state: { ...state, notice } };
}
