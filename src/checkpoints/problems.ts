/** What blame, sync and reading checkpoints can fail with, as data. cli/render/words/checkpoints.ts has the sentences. */
import { ProblemError } from "../base/errors.ts";

export type CheckpointProblem =
  // Blame.
  | { kind: "line-missing"; path: string; line: number; lines: number }
  | { kind: "not-a-file"; path: string }
  | { kind: "file-missing"; path: string }
  | { kind: "not-text"; path: string }
  | { kind: "not-in-work-tree"; path: string }
  // Reading and writing.
  | { kind: "checkpoints-locked" }
  | { kind: "checkpoint-branch-moving"; branch: string }
  /** `problems`: in words. */
  | { kind: "checkpoint-unreadable"; checkpoint: string; problems: readonly string[] }
  | { kind: "session-name-ambiguous"; text: string }
  | { kind: "session-gone" }
  | { kind: "no-readable-transcripts"; agent: string }
  | { kind: "git-hooks-locked" }
  // Sync.
  | { kind: "sync-locked" }
  | { kind: "interrupted" }
  | { kind: "nothing-to-sync" }
  | { kind: "remote-invalid"; text: string }
  | { kind: "remote-unknown"; text: string; names: string[] }
  /** `asks`: for a password. */
  | { kind: "remote-unreachable"; remote: string; reason: string; asks: boolean }
  | { kind: "remote-refused"; remote: string; reason: string }
  | { kind: "push-rejected"; remote: string; reason: string }
  | { kind: "push-has-secrets"; count: number; files: SecretFile[] }
  | { kind: "push-too-large"; path: string; bytes: number };

/** A file with texts that look secret, and the rules that found them. */
export interface SecretFile {
  path: string;
  rules: string[];
}

export class CheckpointError extends ProblemError<CheckpointProblem> {}
