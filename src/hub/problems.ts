/** What the hub's commands can refuse or fail with, as data. cli/render/words/team.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type HubProblem =
  | { kind: "not-a-database" }
  | { kind: "no-index" }
  | { kind: "index-older" }
  | { kind: "index-newer"; version: number; known: number }
  | { kind: "not-a-person"; name: string }
  | { kind: "person-exists"; name: string }
  | { kind: "no-person"; name: string }
  | { kind: "password-in-address" }
  | { kind: "source-exists" }
  | { kind: "cannot-listen"; host: string; port: number; reason: string };

export class HubProblemError extends ProblemError<HubProblem> {}
