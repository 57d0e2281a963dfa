/** What a run can refuse or fail with, as data. cli/render/words/runs.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type RunProblem =
  | { kind: "resume-unsupported-by-run" }
  | { kind: "runner-unknown"; name: string; names: string[] }
  /** `program`: the missing program; `agent`: its display name. */
  | { kind: "runner-missing"; name: string; program: string; agent: string }
  | { kind: "runner-not-started"; name: string; program: string; reason: string }
  | { kind: "not-askable"; name: string; names: string[] }
  | { kind: "no-answer-in-time"; name: string; seconds: number }
  | { kind: "no-answer"; name: string; reason: string }
  | { kind: "answer-not-a-summary"; answer: string }
  // What the user gave.
  | { kind: "session-id-invalid"; session: string }
  | { kind: "prompt-has-nul" }
  | { kind: "prompt-too-long"; bytes: number; limit: number }
  /** `where` is a file or standard input, in words. */
  | { kind: "no-prompts"; where: string }
  | { kind: "too-many-prompts"; where: string; count: number; limit: number }
  | { kind: "prompts-too-large"; path: string; bytes: number }
  | { kind: "prompts-unreadable"; path: string; reason: string }
  | { kind: "not-a-time"; text: string }
  | { kind: "not-a-budget"; text: string }
  | { kind: "not-a-status"; text: string; statuses: string[] }
  // Sessions and logs.
  | { kind: "run-session-unknown"; text: string }
  | { kind: "run-session-ambiguous"; text: string; sessions: { id: string; agent: string | null }[] }
  | { kind: "parent-unknown"; id: string }
  /** `code`: of the system's error. */
  | { kind: "log-not-writable"; logs: string; code: string }
  /** Another problem with the directory of the logs, in words. */
  | { kind: "log-refused"; reason: string; hint: string | undefined }
  // Worktrees.
  | { kind: "worktree-without-git" }
  | { kind: "worktree-without-commit" }
  | { kind: "worktree-not-made"; directory: string; reason: string };

export class RunError extends ProblemError<RunProblem> {}
