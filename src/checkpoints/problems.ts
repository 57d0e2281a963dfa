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
  | { kind: "checkpoint-unreadable"; checkpoint: string; defects: readonly CheckpointDefect[] }
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
  | { kind: "remote-unreachable"; remote: string; reason: RemoteFailure; asks: boolean }
  | { kind: "remote-refused"; remote: string; reason: RemoteFailure }
  | { kind: "push-rejected"; remote: string; reason: string }
  | { kind: "push-has-secrets"; count: number; files: SecretFile[] }
  | { kind: "push-too-large"; path: string; bytes: number };

/** Defects of a checkpoint that is still readable, at least in part. */
export type CheckpointDefect =
  | { kind: "file-missing"; path: string }
  | { kind: "file-not-plain"; path: string }
  | { kind: "file-too-large"; path: string; mebibytes: number }
  | { kind: "file-invalid"; path: string; reason: FormatDefect }
  | { kind: "names-another" }
  | { kind: "too-many-sessions"; read: number; sessions: number }
  | { kind: "sessions-miscounted"; named: number; sessions: number }
  | { kind: "too-many-tasks"; read: number }
  | { kind: "transcript-too-large"; session: number; mebibytes: number }
  | { kind: "transcript-changed"; session: number }
  | { kind: "images-too-large"; session: number }
  | { kind: "conversation-removed" }
  | { kind: "conversation-missing"; session: string }
  | { kind: "summary-not-kept" };

/** Why one JSON file of a checkpoint is refused. */
export type FormatDefect =
  | "not-json"
  | "not-an-object"
  | "invalid-checkpoint-id"
  | "sessions-not-a-list"
  | "no-session-id"
  | "invalid-session-id"
  | "newer-version";

/** What went wrong with a remote. `said`: by the remote or by git, in their words. */
export type RemoteFailure =
  | { kind: "said"; text: string }
  | { kind: "ended"; code: number | null }
  | { kind: "timeout"; seconds: number }
  | { kind: "too-much" }
  | { kind: "interrupted" }
  | { kind: "unknown-object"; type: string }
  | { kind: "large-object"; type: string; mebibytes: number }
  | { kind: "too-many-objects"; max: number };

/** A file with texts that look secret, and the rules that found them. */
export interface SecretFile {
  path: string;
  rules: string[];
}

export class CheckpointError extends ProblemError<CheckpointProblem> {}
