/** What `enable` and `disable` can refuse or fail with, as data. cli/render/words/setup/problems.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type SetupProblem =
  /** `message` of each: in words. */
  | { kind: "agents-not-connected"; failed: { agent: string; message: string }[] }
  | { kind: "not-enabled" }
  | { kind: "store-record-damaged" }
  | { kind: "profile-gone"; agent: string }
  | { kind: "agent-not-connected"; agent: string; connected: readonly string[] }
  | { kind: "agent-tells-nothing"; agent: string; name: string }
  | { kind: "folder-too-large"; folder: string; isHome: boolean }
  | { kind: "bare-repository"; directory: string }
  | { kind: "work-tree-elsewhere"; repository: string; workTree: string }
  // For every repository of the user.
  | { kind: "connected-everywhere"; agent: string }
  | { kind: "nothing-connected-everywhere" }
  | { kind: "agent-not-connected-everywhere"; agent: string; connected: readonly string[] };

export class SetupError extends ProblemError<SetupProblem> {}
