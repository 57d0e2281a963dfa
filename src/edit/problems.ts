/** Why another tool's settings file was left alone, as data. cli/render/words/files.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type EditProblem =
  | { kind: "file-locked"; path: string }
  /** `reason`: continues a sentence that names the file. */
  | { kind: "file-unsupported"; path: string; reason: string }
  | { kind: "file-changed-meanwhile"; path: string }
  | { kind: "link-leads-outside"; path: string; real: string; within: string }
  | { kind: "file-not-written"; path: string; code: string }
  | { kind: "file-in-the-way"; path: string }
  | { kind: "settings-file-unreadable"; path: string; code: string }
  | { kind: "directory-unreachable"; path: string; code: string }
  | { kind: "link-dangling"; path: string; to: "file" | "directory" }
  | { kind: "is-directory"; path: string }
  | { kind: "not-regular"; path: string }
  | { kind: "read-only"; path: string };

export class EditError extends ProblemError<EditProblem> {}
