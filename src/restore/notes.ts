/** Notes for the user after a restore or recovery, as data. cli/render/words/restore/notes.ts has the text. */
import type { CheckpointDefect } from "../checkpoints/problems.ts";
import type { RestoreKind } from "./types.ts";

/** Why a restore does not change the conversation. */
export type NoConversation =
  | { kind: "no-transcript" }
  /** `why` is the profile's reason, if it has one. */
  | { kind: "not-supported"; agent: string; why?: string }
  | { kind: "begins-later" }
  | { kind: "outside" }
  | { kind: "code-only" }
  | { kind: "some-files" }
  | { kind: "commit" }
  | { kind: "undo-only" }
  | { kind: "unchanged" }
  /** The agent that proposed the restore learns of it with its next prompt. */
  | { kind: "notified-later" }
  /** Continued since; `session` is the one from before. */
  | { kind: "went-on"; session: string };

/** What became of an interrupted restore. */
type RestoreRecovery =
  | { kind: "restore-unreadable"; directory: string }
  | { kind: "restore-finished"; restore: RestoreKind }
  | { kind: "restore-not-finished"; restore: RestoreKind; reason: string }
  | { kind: "saved-before-finishing"; step: string }
  | { kind: "conversation-continues"; command: string };

/** Notes of a receipt. */
export type RestoreNote =
  | RestoreRecovery
  /** Content that no safety step holds. */
  | { kind: "files-kept"; paths: string[]; directory: string }
  | { kind: "branch-not-moved"; why: "commit-not-kept" | "changed" }
  | { kind: "index-left"; why: "earlier-version" | "head-moved" | "locked" }
  | { kind: "index-refused"; reason: string }
  | { kind: "staged-left"; paths: string[] }
  | { kind: "copy-gone" }
  | { kind: "copy-failed"; reason: string }
  | { kind: "no-conversation"; reason: NoConversation }
  | { kind: "agent-notified" }
  /** `notice`: what the user can paste. */
  | { kind: "agent-not-notified"; notice: string }
  | { kind: "conflict-markers"; paths: string[] }
  | { kind: "conflicts-left"; paths: string[] }
  | { kind: "all-as-before" }
  | { kind: "changed-meanwhile"; paths: string[]; safetyStep: string };

/** Files that nothing else holds, and that a removal therefore left. */
export interface LeftFiles {
  kind: "files-left";
  paths: string[];
  directory: string;
}

/** Notes about a fork that was made or dropped. */
export type ForkNote =
  | LeftFiles
  | { kind: "private-files-missing"; paths: string[] }
  | { kind: "ignored-files-missing"; paths: string[] }
  | { kind: "submodules-missing" }
  | { kind: "no-conversation"; reason: NoConversation }
  | { kind: "commit-forked" }
  | { kind: "commit-not-handed-off" }
  | { kind: "copy-failed"; reason: string }
  | { kind: "hooks"; text: string }
  | { kind: "not-the-fork"; directory: string };

/** The outcome of a fork whose creation or drop was interrupted. */
export type ForkRecovery =
  | ForkNote
  | { kind: "fork-not-finished"; fork: string; action: "make" | "drop"; reason: string }
  | { kind: "fork-finished"; fork: string; command: string | null }
  | { kind: "fork-cleared"; fork: string }
  | { kind: "fork-running"; fork: string }
  | { kind: "fork-stays"; fork: string }
  | { kind: "fork-dropped"; fork: string; step: string | null }
  | { kind: "fork-commits-kept"; ref: string }
  | { kind: "fork-staged-kept"; ref: string }
  | { kind: "fork-repository-kept"; directory: string };

/** Notes about a conversation to resume. */
export type ResumeNote =
  | { kind: "other-sessions"; sessions: string[] }
  /** Another person's text reaches the agent in the user's name. */
  | { kind: "written-elsewhere"; checkpoint: string }
  | { kind: "secrets-removed"; count: number }
  | { kind: "damaged"; defect: CheckpointDefect }
  /** Only the messages are stored, not the transcript. */
  | { kind: "compact" }
  | { kind: "agent-not-recorded"; agent: string; name: string };
