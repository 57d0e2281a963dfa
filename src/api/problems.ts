/** Errors of a caller of the library, as data. cli/render/words/steps.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type ApiProblem =
  | { kind: "foreign-plan" }
  | { kind: "executable-missing" }
  | { kind: "target-not-in-turn"; target: string }
  | { kind: "file-not-in-state"; path: string }
  | { kind: "not-a-directory"; path: string }
  | { kind: "proposal-stale" };

export class ApiError extends ProblemError<ApiProblem> {}
