/** Why a conversation can't be resumed, as data. cli/render/words/restore/problems.ts has the sentences. */

import { ProblemError } from "../../base/errors.ts";
import type { CheckpointDefect } from "../../checkpoints/problems.ts";
import type { NoConversation } from "../notes.ts";

export type ResumeProblem =
  | { kind: "no-conversation"; reason: NoConversation }
  | { kind: "agent-unknown"; agent: string }
  | { kind: "checkpoint-missing"; checkpoint: string }
  | { kind: "checkpoint-conversation-missing"; checkpoint: string; defects: readonly CheckpointDefect[] }
  | { kind: "checkpoint-conversation-removed"; checkpoint: string }
  | { kind: "session-not-in-checkpoint"; checkpoint: string; sessions: string[] }
  | { kind: "session-not-recorded"; session: string }
  | { kind: "branch-without-session"; branch: string }
  | { kind: "commit-without-session"; commit: string }
  | { kind: "step-without-conversation" }
  | { kind: "conversation-empty" }
  | { kind: "resume-unsupported"; agent: string }
  | { kind: "transcript-appeared"; path: string };

export class ResumeError extends ProblemError<ResumeProblem> {}
