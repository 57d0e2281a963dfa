/** Why a setting can't be written, as data. cli/render/words/files.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type ConfigProblem =
  | { kind: "no-repository-for-setting" }
  | { kind: "settings-unreadable"; file: string; reason: string }
  | { kind: "settings-not-an-object"; file: string };

export class ConfigError extends ProblemError<ConfigProblem> {}
