/** The user's own patterns, run by an engine that takes time in proportion to the text, whatever the pattern. */
import { RE2JS } from "re2js";
import { messageOf, UserError } from "../../base/errors.ts";
import { printable, shorten } from "../../base/text.ts";
import { type Candidate, WEIGHT } from "./scan.ts";

export interface Custom {
  /** What the user's rules find: their first group where they have one, everything they match otherwise. */
  find(bytes: Buffer, from: number, to: number): Candidate[];
  /** Whether the user says that this is no secret. */
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
    throw new UserError(
      "usage",
      `${setting}: ${shorten(printable(JSON.stringify(pattern)), 80)} is not a pattern: ${printable(messageOf(error))}.`,
      "Patterns are written as RE2 takes them: no back-references and no look-around.",
    );
  }
}
