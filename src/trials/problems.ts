/** What a bisection or a check can refuse or fail with, as data. cli/render/words/trials.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type TrialProblem =
  /** `hasEnds`: the user named both. */
  | { kind: "nothing-to-bisect"; hasEnds: boolean }
  | { kind: "path-not-below-root"; path: string }
  | { kind: "not-between-ends"; step: string }
  | { kind: "command-denied"; program: string }
  | { kind: "command-missing"; program: string }
  | { kind: "trial-stopped" };

export class TrialError extends ProblemError<TrialProblem> {}
