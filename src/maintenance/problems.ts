/** What `forget` and `purge` can refuse or fail with, as data. cli/render/words/checkpoints.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type MaintenanceProblem =
  | { kind: "steps-not-forgotten"; steps: number }
  | { kind: "session-not-forgotten" }
  | { kind: "step-without-own-conversation" }
  | { kind: "nothing-to-forget"; target: string }
  | { kind: "text-too-short"; min: number }
  | { kind: "worker-running" };

export class MaintenanceError extends ProblemError<MaintenanceProblem> {}
