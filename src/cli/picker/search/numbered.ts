/** The numbered list of hits, for terminals that cannot move their cursor and for screen readers. */
import { basename } from "node:path";
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { oneLine, plural } from "../../../base/text.ts";
import type { FoundHit, FoundHits } from "../../../search/results/search.ts";
import { fit } from "../../render/layout/text.ts";
import { age } from "../../render/layout/time.ts";
import { fateWords } from "../../render/search/hits.ts";
import type { Io } from "../../terminal/io.ts";
import { ACTIONS, type PickedHit } from "./state.ts";

/** The signs of a check's result, as a screen reader should say them. */
const SPOKEN: Readonly<Record<string, string>> = { "✓": "check passed", "✗": "check failed" };

export function numberedHits({ hits, total }: Pick<FoundHits, "hits" | "total">, io: Io): string[] {
  const more = total - hits.length;
  return [
    ...hits.map((hit, i) => hitLine(hit, i + 1, io)),
    ...(more > 0 ? [`     ${plural(more, "more hit")}: add words or filters.`] : []),
  ];
}

function hitLine(hit: FoundHit, number: number, io: Io): string {
  const facts = [
    hit.time === null ? "" : age(hit.time, now()),
    hit.repository === null ? oneLine(hit.agent) : oneLine(basename(hit.repository)),
    `turn ${hit.turn}`,
    ...fateWords(hit.fate, (_, text) => text).map((text) => (io.accessible ? (SPOKEN[text] ?? text) : text)),
    hit.path === null ? hit.field : `${hit.field} in ${oneLine(hit.path)}`,
  ];
  const start = `${String(number).padStart(3)}. ${facts.filter((fact) => fact !== "").join(", ")}: `;
  // A screen reader has no columns, so nothing is cut off for it.
  const room = io.accessible ? Number.POSITIVE_INFINITY : Math.max(20, io.err.columns - start.length);
  return start + fit(oneLine(hit.snippet), room);
}

/** `3`, `rewind 3`. */
export function readAnswer(answer: string, hits: readonly FoundHit[]): PickedHit {
  const [, word = "show", number = ""] = /^(?:([a-z]+)\s+)?(\d+)$/i.exec(answer) ?? [];
  const action = ACTIONS.find((one) => one === word.toLowerCase());
  const hit = hits[Number(number) - 1];
  if (action && hit) return { action, hit };
  throw new UserError("usage", `"${oneLine(answer)}" is not a number from 1 to ${hits.length}.`);
}
