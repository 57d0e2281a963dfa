/** What files and times can be refused for, as data. cli/render/words/setup/files.ts has the sentences. */
import { ProblemError } from "./errors.ts";

export type BaseProblem =
  | { kind: "path-outside"; path: string; root: string }
  | { kind: "path-is-link"; path: string }
  | { kind: "path-has-other-names"; path: string }
  | { kind: "not-a-date"; text: string };

export class BaseError extends ProblemError<BaseProblem> {}
