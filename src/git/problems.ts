/** What git can fail with, as data. cli/render/words/git.ts has the sentences. Types only: hooks load this layer. */
export type GitProblem =
  | { kind: "git-missing" }
  /** `verb`: the git command; `reason`: what git printed. */
  | { kind: "git-failed"; verb: string; code: number; reason: string }
  | { kind: "object-missing"; object: string }
  | { kind: "object-type"; object: string; type: string; expected: string }
  | { kind: "git-ended" }
  | { kind: "ref-locked"; lock: string }
  | { kind: "private-files-not-pruned"; reason: string }
  /** `root`: of the repository that is not recorded; null outside of any. */
  | { kind: "not-recorded"; directory: string; root: string | null };
