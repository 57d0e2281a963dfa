/**
 * Limits what a repository's files may set. A repository (a clone, an archive, a submodule) may request less of the
 * machine, but never less safety: it can't shorten retention, exclude files, weaken redaction, send anything off the
 * machine or run anything. keys.ts has the rule for each key.
 */
export type RepositoryRule =
  /** Any of these values; any value at all if no list is given. */
  | { may: "choose"; from?: readonly string[] }
  /** Only a value that comes before the current one in `order`. */
  | { may: "lower"; order: readonly unknown[] }
  /** Only additional entries; the user's own entries stay. */
  | { may: "add" };

export type Permitted = { value: unknown } | { refused: string };

/** Applies a rule to the value that a repository requests. `present` is the value without that request. */
export function permitted(rule: RepositoryRule | undefined, wish: unknown, present: unknown): Permitted {
  switch (rule?.may) {
    case "choose":
      if (!rule.from || rule.from.includes(String(wish))) return { value: wish };
      break;
    case "lower":
      if (rule.order.indexOf(wish) <= rule.order.indexOf(present)) return { value: wish };
      break;
    case "add":
      return { value: [...new Set([...(present as string[]), ...(wish as string[])])] };
    case undefined:
  }
  return { refused: `a repository's file ${ruleText(rule)}` };
}

/** "may …" or "can't …", for messages and for the table in docs/formats/config.md. */
export function ruleText(rule: RepositoryRule | undefined): string {
  switch (rule?.may) {
    case "choose":
      return rule.from ? `may only choose ${listed(rule.from)}` : "may set this";
    case "lower":
      if (typeof rule.order[0] === "boolean") return "may only turn this off";
      return `may only move this towards ${rule.order[0]} (${rule.order.join(", ")})`;
    case "add":
      return "may only add to this";
    case undefined:
      return "can't set this";
  }
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
