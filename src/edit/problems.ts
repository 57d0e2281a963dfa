/** Why another tool's settings file was left alone, as data. cli/render/words/setup/files.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type EditProblem =
  | { kind: "file-locked"; path: string }
  | { kind: "file-unsupported"; path: string; reason: DocumentProblem }
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

/** Why the content of a file does not support a change. `path`: the keys that lead to an entry. */
export type DocumentProblem =
  | { kind: "not-ours" }
  | { kind: "nothing-to-write" }
  | { kind: "too-large" }
  | { kind: "not-utf8" }
  | { kind: "not-json"; reason: string }
  | { kind: "not-toml"; reason: string; line: number | null }
  | { kind: "key-unreadable" }
  | { kind: "key-ambiguous"; path: EntryPath }
  | { kind: "key-exists"; path: EntryPath }
  | { kind: "nothing-at"; path: EntryPath }
  | { kind: "wrong-type"; expected: "object" | "list"; path: EntryPath }
  | { kind: "not-array-of-tables"; key: string }
  | { kind: "entry-not-ours"; path: EntryPath }
  | { kind: "not-written" }
  /** Other entries than ours would change as well. */
  | { kind: "not-separable" };

type EntryPath = readonly (string | number)[];

export class EditError extends ProblemError<EditProblem> {}
