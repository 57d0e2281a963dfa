/** Candidate secrets, and the resolution of overlaps between them. */
import type { NameKind } from "./find/names.ts";

export interface Candidate {
  rule: string;
  start: number;
  end: number;
  /** Of two overlapping candidates, the heavier one determines the rule. */
  weight: number;
}

export const WEIGHT = {
  literal: 9,
  custom: 8,
  block: 7,
  shape: 6,
  address: 5,
  near: 4,
  named: 3,
  name: 2,
  random: 1,
} as const;

export const RULE_OF: Readonly<Record<NameKind, string>> = {
  password: "password",
  secret: "secret",
  key: "secret",
  salt: "secret",
  pin: "password",
  session: "session",
};

/**
 * Sorts candidates and merges those that overlap, under the name of the heavier one. A candidate that is only random
 * yields to any other, because it may include text around the secret.
 */
export function settle<T extends Candidate>(candidates: T[]): T[] {
  if (candidates.length < 2) return candidates;
  candidates.sort((a, b) => a.start - b.start || b.end - a.end);
  const settled: T[] = [];
  for (const candidate of candidates) {
    const last = settled.at(-1);
    if (!last || candidate.start >= last.end) settled.push({ ...candidate });
    else if (candidate.weight === WEIGHT.random) continue;
    else if (last.weight === WEIGHT.random) Object.assign(last, candidate);
    else {
      last.end = Math.max(last.end, candidate.end);
      if (candidate.weight > last.weight) [last.weight, last.rule] = [candidate.weight, candidate.rule];
    }
  }
  return settled;
}
