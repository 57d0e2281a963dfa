/**
 * Rescans until nothing more is found. Redacting a secret changes the context of its neighbors, and a second scan of
 * redacted text must find nothing.
 */

import { type Candidate, settle } from "./candidate.ts";
import { placeholderFor, placeholdersIn } from "./placeholders.ts";

export type Look = (bytes: Buffer, from: number, to: number) => Candidate[];

const MAX_ROUNDS = 8;
const STAND_IN = Buffer.from(placeholderFor("x", 1));

/** `first` holds the findings of the first scan. `again`: the range contains placeholders that must stay. */
export function lookUntilStable(
  bytes: Buffer,
  from: number,
  to: number,
  again: boolean,
  first: Candidate[],
  look: Look,
): Candidate[] {
  if (first.length === 0) return first;
  let found = settle(again ? apart(bytes.subarray(from, to), from, first) : first);
  for (let round = 0; found.length > 0 && round < MAX_ROUNDS; round++) {
    const text = replaced(bytes, from, to, found);
    const more = apart(text, 0, look(text, 0, text.length));
    if (more.length === 0) return found;
    found = settle([...found, ...moved(more, from, found)]);
  }
  return found;
}

/** The findings that touch no placeholder. */
function apart(stretch: Buffer, from: number, candidates: Candidate[]): Candidate[] {
  if (candidates.length === 0) return candidates;
  const known = [...placeholdersIn(stretch)];
  if (known.length === 0) return candidates;
  const sorted = candidates.sort((a, b) => a.start - b.start);
  let at = 0;
  return sorted.filter(({ start, end }) => {
    while (at < known.length && from + (known[at]?.end ?? 0) < start) at++;
    const next = known[at];
    return !next || from + next.start > end;
  });
}

function replaced(bytes: Buffer, from: number, to: number, found: Candidate[]): Buffer {
  const parts: Buffer[] = [];
  let at = from;
  for (const { start, end } of found) {
    parts.push(bytes.subarray(at, start), STAND_IN);
    at = end;
  }
  parts.push(bytes.subarray(at, to));
  return Buffer.concat(parts);
}

/** Maps offsets from the text with stand-ins to the original: each finding is between two stand-ins. */
function moved(more: Candidate[], from: number, found: Candidate[]): Candidate[] {
  let shift = from;
  let passed = 0;
  return more
    .sort((a, b) => a.start - b.start)
    .map((one) => {
      for (let next = found[passed]; next && next.start - shift < one.end; next = found[++passed]) {
        shift += next.end - next.start - STAND_IN.length;
      }
      return { ...one, start: one.start + shift, end: one.end + shift };
    });
}
