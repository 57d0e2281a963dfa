/** Why a setting can't be written or is ignored, as data. cli/render/words/setup/ has the sentences. */
import { ProblemError } from "../base/errors.ts";
import type { RepositoryRule } from "./repository.ts";

export type ConfigProblem =
  | { kind: "no-repository-for-setting" }
  | { kind: "settings-unreadable"; file: string; reason: string }
  | { kind: "settings-not-an-object"; file: string };

/** Why a setting is ignored. */
export type SettingDefect =
  | { kind: "file-unreadable"; reason: string }
  | { kind: "file-not-an-object" }
  | { kind: "group-not-an-object" }
  | { kind: "no-such-setting" }
  | { kind: "user-file-only" }
  | WrongValue
  | RefusedValue;

/** `found`: as JSON, shortened; or the type of a value that is nested too deeply for that. */
export interface WrongValue {
  kind: "value-unexpected";
  expected: ExpectedValue;
  found: string | { deep: "list" | "object" };
}

export type ExpectedValue =
  | { kind: "boolean" | "text" | "number" | "size" | "list" | "rules" | "json" }
  | { kind: "choice"; choices: readonly string[] }
  | { kind: "minimum"; minimum: number };

/** A repository's file has a value that only the user may set. `rule`: the values that it may set. */
export interface RefusedValue {
  kind: "value-refused";
  rule: RepositoryRule | null;
}

export class ConfigError extends ProblemError<ConfigProblem> {}
