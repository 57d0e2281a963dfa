/** Installs the words of every layer: called by the command line and by the library when they start. */
import { WORDS } from "../../../api/words.ts";
import { installProblemWords, type Problem, type ProblemText } from "../../../base/errors.ts";
import { NOTICE_WORDS } from "../../../restore/conversation/notices.ts";
import { CHECKPOINT_WORDS, MAINTENANCE_WORDS, REDACTION_WORDS } from "./checkpoints.ts";
import { GIT_WORDS } from "./git.ts";
import { PROPOSAL_WORDS } from "./proposals.ts";
import { conflictText } from "./restore/conflicts.ts";
import { FORK_WORDS } from "./restore/forks.ts";
import { noConversationText, noteText } from "./restore/notes.ts";
import { RESTORE_WORDS, RESUME_WORDS } from "./restore/problems.ts";
import { sideEffectRow } from "./restore/side-effects.ts";
import { openSessionNotice, undoNotice } from "./restore/undo-notice.ts";
import { RUN_WORDS } from "./runs.ts";
import { SEARCH_WORDS } from "./search.ts";
import { BASE_WORDS, CONFIG_WORDS, EDIT_WORDS } from "./setup/files.ts";
import { SETUP_WORDS } from "./setup/problems.ts";
import { API_WORDS, STEP_WORDS } from "./steps.ts";
import { HUB_WORDS, TEAM_WORDS } from "./team.ts";
import { TRIAL_WORDS } from "./trials.ts";

/** One table for each union of problems. No two problems have the same kind. */
export const TABLES: readonly object[] = [
  BASE_WORDS,
  GIT_WORDS,
  CONFIG_WORDS,
  EDIT_WORDS,
  REDACTION_WORDS,
  STEP_WORDS,
  CHECKPOINT_WORDS,
  MAINTENANCE_WORDS,
  SETUP_WORDS,
  RESTORE_WORDS,
  RESUME_WORDS,
  FORK_WORDS,
  RUN_WORDS,
  TRIAL_WORDS,
  SEARCH_WORDS,
  PROPOSAL_WORDS,
  API_WORDS,
  TEAM_WORDS,
  HUB_WORDS,
];

export function installWords(): void {
  const words = new Map(TABLES.flatMap((table) => Object.entries(table)));
  installProblemWords((problem: Problem): ProblemText | undefined => words.get(problem.kind)?.(problem));
  WORDS.install({
    sideEffect: sideEffectRow,
    conflict: conflictText,
    note: noteText,
    noConversation: noConversationText,
  });
  NOTICE_WORDS.install({ undoNotice, openSessionNotice });
}
