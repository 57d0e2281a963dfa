/** The options that many commands share, and how their values are read. */
import { UserError } from "../../base/errors.ts";
import type { OptionSpec } from "./spec.ts";

export const JSON_OPTION = { flags: "--json", help: "print JSON" } as const satisfies OptionSpec;
export const YES = { flags: "-y, --yes", help: "don't ask" } as const satisfies OptionSpec;
export const DRY_RUN = {
  flags: "-n, --dry-run",
  help: "show the plan without applying it",
} as const satisfies OptionSpec;
export const ALL = { flags: "--all", help: "show the whole plan, however long it is" } as const satisfies OptionSpec;
export const CONFLICTS = {
  flags: "--conflicts <how>",
  help: "with `markers`, write conflict markers into the files",
  choices: ["refuse", "markers"],
} as const satisfies OptionSpec;
/** For commands that show a plan and ask. */
export const CONFIRMATION = [DRY_RUN, ALL, YES, JSON_OPTION] as const;
export const TARGET =
  "a step, `last`, `prev`, `last-green`, a number of turns back, a name, a commit, a checkpoint, a session";

export function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UserError("usage", `"${text}" is not a number of turns.`, "Give a whole number; 0 means all of them.");
}

/** For an option that may be repeated. One flag does not take a list, because arguments may follow. */
export function oneMore(text: string, before: unknown): string[] {
  return [...(Array.isArray(before) ? (before as string[]) : []), text];
}
