/** Runs the user's patterns with a linear-time regular expression engine. */

import { RE2JS } from "re2js";
import { messageOf } from "../../base/errors.ts";
import { RedactionError } from "../problems.ts";
import { type Candidate, WEIGHT } from "./candidate.ts";

export interface Custom {
  /** Finds matches of the user's rules: the first group if the rule has one, otherwise the whole match. */
  find(bytes: Buffer, from: number, to: number): Candidate[];
  /** Whether the user's configuration allows this value. */
  allows(value: string): boolean;
}

export function compileCustom(rules: readonly string[], allow: readonly string[]): Custom {
  const patterns = rules.map((rule) => compiled(rule, "redaction.rules"));
  const allowed = allow.map((rule) => compiled(rule, "redaction.allow"));
  const literal = new Set(allow);
  return {
    find(bytes, from, to) {
      const stretch = bytes.subarray(from, to);
      return patterns.flatMap((pattern) => [...matches(pattern, stretch, from)]);
    },
    allows: (value) => literal.has(value) || allowed.some((pattern) => pattern.matches(value)),
  };
}

function* matches(pattern: RE2JS, stretch: Buffer, from: number): Generator<Candidate> {
  const group = pattern.groupCount() > 0 ? 1 : 0;
  const matcher = pattern.matcher(stretch);
  while (matcher.find()) {
    const start = matcher.start(group);
    const end = matcher.end(group);
    if (start >= 0 && end > start)
      yield { rule: "custom", start: from + start, end: from + end, weight: WEIGHT.custom };
  }
}

function compiled(pattern: string, setting: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new RedactionError("usage", { kind: "pattern-invalid", setting, pattern, reason: messageOf(error) });
  }
}
