/** What a command is in the table of commands, and the options that many of them share. */
import { UserError } from "../../base/errors.ts";
import type { Io } from "../io.ts";

export const GROUPS = ["Start and stop", "Look back", "Go back", "Run agents", "Set up"] as const;
export type Group = (typeof GROUPS)[number];

export interface CommandSpec {
  path: string;
  alias?: string;
  group: Group;
  summary: string;
  /** For the command's own help; the summary where there is none. */
  details?: string;
  arguments?: readonly ArgumentSpec[];
  options?: readonly OptionSpec[];
  examples?: readonly (readonly [string, string])[];
  hidden?: boolean;
  /** What stands behind `--` is not ours: it reaches the command as `rest`. */
  takesRest?: boolean;
  /** Run when its group is named alone. */
  isDefault?: boolean;
  /** `never`: each command declares its own options, and commander fills them as this table says. */
  load?: () => Promise<{ run(options: never, io: Io): Promise<number | undefined> }>;
}

export interface ArgumentSpec {
  /** `<needed>`, `[optional]`, `[any...]`. */
  name: string;
  help: string;
  completes?: Completes;
}

export interface OptionSpec {
  flags: string;
  help: string;
  choices?: readonly string[];
  conflicts?: string[];
  /** `before` is what an earlier one of the same came to. */
  parse?: (text: string, before: unknown) => unknown;
  completes?: Completes;
}

/** What the shell offers in this place. */
export type Completes = "step" | "turn" | "agent" | "setting" | "shell" | "session" | "run" | "fork";

export const JSON_OPTION: OptionSpec = { flags: "--json", help: "print JSON" };
export const YES: OptionSpec = { flags: "-y, --yes", help: "don't ask" };
export const DRY_RUN: OptionSpec = { flags: "-n, --dry-run", help: "say what would be done, and do nothing" };
export const TARGET =
  "a step, `last`, `prev`, `last-green`, a number of turns back, a name, a commit, a checkpoint, a session";

export function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UserError("usage", `"${text}" is not a number of turns.`, "Give a whole number; 0 means all of them.");
}
