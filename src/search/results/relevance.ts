/** Orders documents by how well they match: how often, how close together, in which field, and how long ago. */

import type { Document } from "../index/documents.ts";
import type { Field } from "../index/schema.ts";
import type { SearchIndex } from "../index/store.ts";
import type { Term } from "../query/parse.ts";
import { matchesIn } from "./snippets.ts";

/** A user's prompt is more relevant than a tool's output. */
const WEIGHTS: Readonly<Record<Field, number>> = {
  prompt: 3,
  path: 2,
  answer: 2,
  added: 1.5,
  removed: 1.5,
  command: 1.2,
  thinking: 1,
  output: 0.7,
};
const YEAR_MS = 365 * 86_400_000;
/** Matches within this many characters count as close together. */
const CLOSE = 200;

export function byRelevance(index: SearchIndex, documents: readonly Document[], terms: readonly Term[]): Document[] {
  const newest = documents.reduce((time, document) => Math.max(time, document.time), 0);
  const scores = new Map(documents.map((one) => [one, scoreOf(index.textOf(one), one, terms, newest)]));
  return [...documents].sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0) || b.time - a.time);
}

function scoreOf(text: string, { field, time }: Document, terms: readonly Term[], newest: number): number {
  const ranges = matchesIn(text, terms);
  const often = Math.log2(1 + ranges.length) / Math.log2(8 + text.length / 50);
  const [first, second] = [ranges[0], ranges[1]];
  const close = first && second && second.start - first.end < CLOSE ? 1.3 : 1;
  const recent = 1 / (1 + (newest - time) / YEAR_MS);
  return WEIGHTS[field] * often * close * (0.5 + 0.5 * recent);
}
