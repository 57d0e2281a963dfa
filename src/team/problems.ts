/** What sharing with a team can refuse or fail with, as data. cli/render/words/team.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type TeamProblem =
  | { kind: "no-team" }
  | { kind: "team-file-damaged" }
  | { kind: "share-file-damaged" }
  | { kind: "not-a-team-repository" }
  | { kind: "not-a-hub" }
  | { kind: "hub-not-http" }
  | { kind: "hub-not-encrypted" };

export class TeamProblemError extends ProblemError<TeamProblem> {}
