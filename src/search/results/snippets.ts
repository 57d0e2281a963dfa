/** Cuts the part of a text around its matches that is shown for a hit. */
import { type Range, rangesOf } from "../query/match.ts";
import type { Term } from "../query/parse.ts";

export interface Snippet {
  text: string;
  /** The matches in `text`. */
  matches: Range[];
}

const BEFORE = 50;
const LENGTH = 180;
/** Matches after this one don't change the snippet. */
const MAX_RANGES = 200;

export function snippetOf(text: string, terms: readonly Term[]): Snippet {
  const ranges = matchesIn(text, terms);
  const start = startOf(text, best(ranges));
  const end = Math.min(text.length, start + LENGTH);
  const cut = collapse(text, start, end, ranges);
  return start > 0 || end < text.length ? withEllipses(cut, start > 0, end < text.length) : cut;
}

/** The line with the best match, for changed lines: joined with its neighbours it would be no line of the file. */
export function lineSnippetOf(text: string, terms: readonly Term[]): Snippet {
  const match = best(matchesIn(text, terms));
  const at = match?.start ?? Math.max(0, text.search(/\S/));
  const end = text.indexOf("\n", match === undefined ? at : Math.max(at, match.end - 1));
  return snippetOf(text.slice(text.lastIndexOf("\n", at - 1) + 1, end < 0 ? text.length : end), terms);
}

/** All matches, sorted, without overlaps. */
export function matchesIn(text: string, terms: readonly Term[]): Range[] {
  const found: Range[] = [];
  for (const term of terms) {
    if (term.excluded) continue;
    let count = 0;
    for (const range of rangesOf(text, term)) {
      found.push(range);
      if (++count >= MAX_RANGES) break;
    }
  }
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  let last = 0;
  return found.filter(({ start, end }) => {
    if (start < last) return false;
    last = end;
    return true;
  });
}

/** The match with the most others close behind it. */
function best(ranges: readonly Range[]): Range | undefined {
  let chosen = ranges[0];
  let most = 0;
  for (const [index, range] of ranges.entries()) {
    let count = 0;
    while ((ranges[index + count]?.end ?? Number.POSITIVE_INFINITY) < range.start + LENGTH - BEFORE) count++;
    if (count > most) [chosen, most] = [range, count];
  }
  return chosen;
}

/** A little before the match, at the start of a line or word. */
function startOf(text: string, match: Range | undefined): number {
  if (!match || match.start <= BEFORE) return 0;
  const from = match.start - BEFORE;
  const line = text.lastIndexOf("\n", match.start - 1);
  if (line >= from) return line + 1;
  const space = text.indexOf(" ", from);
  return space >= 0 && space < match.start ? space + 1 : from;
}

/** Every run of white space becomes one space, and matches move along. */
function collapse(text: string, start: number, end: number, ranges: readonly Range[]): Snippet {
  let shown = "";
  const places = new Map<number, number>();
  for (let at = start; at < end; at++) {
    places.set(at, shown.length);
    const character = text[at] ?? "";
    if (!/\s/.test(character)) shown += character;
    else if (shown !== "" && !shown.endsWith(" ")) shown += " ";
  }
  places.set(end, shown.length);
  const matches = ranges.flatMap((range) => {
    const from = places.get(range.start);
    const to = places.get(Math.min(range.end, end));
    return from === undefined || to === undefined || to <= from ? [] : [{ start: from, end: to }];
  });
  return { text: shown.trimEnd(), matches: matches.filter((match) => match.end <= shown.trimEnd().length) };
}

function withEllipses({ text, matches }: Snippet, before: boolean, after: boolean): Snippet {
  const shift = before ? 1 : 0;
  return {
    text: `${before ? "…" : ""}${text}${after ? "…" : ""}`,
    matches: matches.map(({ start, end }) => ({ start: start + shift, end: end + shift })),
  };
}
