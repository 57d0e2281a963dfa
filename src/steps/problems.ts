/** What looking up or changing steps can fail with, as data. cli/render/words/steps.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type StepProblem =
  | { kind: "session-prefix-ambiguous"; text: string }
  | { kind: "session-prefix-unknown"; text: string }
  | { kind: "step-prefix-ambiguous"; text: string; ids: string[] }
  | { kind: "session-busy"; change: "rename" | "remove" }
  | { kind: "session-changed" };

export class StepError extends ProblemError<StepProblem> {}
