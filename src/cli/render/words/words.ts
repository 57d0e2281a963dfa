/** What the tables of words share: their type, and how they show names, paths and lists. */
import type { Problem, ProblemText } from "../../../base/errors.ts";
import { oneLine, shorten, shownPath } from "../../../base/text.ts";

/** A sentence and perhaps a hint for every problem of a layer; the type checker finds missing ones. */
export type WordsFor<P extends Problem> = {
  readonly [K in P["kind"]]: (problem: Extract<P, { kind: K }>) => ProblemText;
};

export const MORE_LETTERS = "Give more letters.";
export const TRY_AGAIN = "Try again in a moment.";
export const LOG_LISTS = "`backtrail log` shows what is recorded.";

const MAX_NAME = 60;
const MAX_FILES = 5;

/** Text from a user, an agent or a file, short and safe for a terminal. */
export function shown(text: string, max = MAX_NAME): string {
  return shorten(oneLine(text), max);
}

/** `a.ts, b.ts and 3 more` */
export function listed(paths: readonly string[], max = MAX_FILES): string {
  const names = paths.slice(0, max).map((path) => shownPath(path));
  const more = paths.length - names.length;
  return more > 0 ? `${names.join(", ")} and ${more} more` : names.join(", ");
}

/** `a.ts, b.ts …` */
export function some(names: readonly string[]): string {
  const shown = names.slice(0, MAX_FILES).map((name) => shownPath(name));
  return names.length > MAX_FILES ? `${shown.join(", ")} …` : shown.join(", ");
}

/** ` ("Add a test")`, or nothing. */
export function quoted(prompt: string | null): string {
  return prompt === null ? "" : ` ("${shown(prompt)}")`;
}
