/** The sentences for refused and impossible searches, and for suggestions when a search finds nothing. */
import { plural } from "../../../base/text.ts";
import type { SearchProblem } from "../../../search/problems.ts";
import type { Near } from "../../../search/results/near.ts";
import { shown, type WordsFor } from "./words.ts";

export const SEARCH_WORDS: WordsFor<SearchProblem> = {
  "filter-value-unknown": ({ filter, value, near, choices }) => [
    `${filter}:${shown(value)} is not a filter.`,
    near === undefined ? `There are ${choices.join(", ")}.` : `Did you mean ${filter}:${near}?`,
  ],
  "cost-filter-invalid": ({ value }) => [`cost:${shown(value)} is not a cost.`, "Write cost:>1 or cost:<0.5."],
  "search-index-busy": () => ["Another process is using the search index.", "Try again in a moment."],
  "search-index-later": () => [
    "A later version of Backtrail created the search index.",
    "Use that version, or rebuild the index with `backtrail search --rebuild`.",
  ],
  "search-index-unusable": ({ path, reason }) => [
    `The search index can't be opened: ${reason}`,
    `It is ${path}; check the disk and the directory's permissions.`,
  ],
  "sqlite-too-old": ({ needed, found }) => [`Search needs SQLite ${needed} or later; this system has ${found}.`],
  "sqlite-missing": () => ["This version of Node has no SQLite.", "Search needs Node 22.15 or later, or Bun."],
};

/** Alternatives for the user, one sentence each. */
export function nearTexts({ words, withoutFilters }: Near): string[] {
  const unknown = words.map(({ word, like }) =>
    like === null ? `"${word}" occurs nowhere.` : `"${word}" occurs nowhere. Did you mean "${like}"?`,
  );
  return withoutFilters > 0
    ? [...unknown, `Without the filters, the search finds at most ${plural(withoutFilters, "hit")}.`]
    : unknown;
}
