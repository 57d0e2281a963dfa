/**
 * Limits what a repository's files may set. A repository (a clone, an archive, a submodule) may request less of the
 * machine, but never less safety: it can't shorten retention, exclude files, weaken redaction, send anything off the
 * machine or run anything. keys.ts has the rule for each key.
 */
import type { RefusedValue } from "./problems.ts";

export type RepositoryRule =
  /** Any of these values; any value at all if no list is given. */
  | { may: "choose"; from?: readonly string[] }
  /** Only a value that comes before the current one in `order`. */
  | { may: "lower"; order: readonly unknown[] }
  /** Only additional entries; the user's own entries stay. */
  | { may: "add" };

export type Permitted = { value: unknown } | { refused: RefusedValue };

/** Applies a rule to the value that a repository requests. `current` is the value without that request. */
export function permitted(rule: RepositoryRule | undefined, requested: unknown, current: unknown): Permitted {
  switch (rule?.may) {
    case "choose":
      if (!rule.from || rule.from.includes(String(requested))) return { value: requested };
      break;
    case "lower":
      if (rule.order.indexOf(requested) <= rule.order.indexOf(current)) return { value: requested };
      break;
    case "add":
      return { value: [...new Set([...(current as string[]), ...(requested as string[])])] };
    case undefined:
  }
  return { refused: { kind: "value-refused", rule: rule ?? null } };
}
