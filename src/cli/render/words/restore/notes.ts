/** The sentences for notes: after a restore, a fork or a resume, and after the recovery of an interrupted command. */

import { plural, shownPath } from "../../../../base/text.ts";
import type { MaintenanceEvent } from "../../../../maintenance/events.ts";
import type { ForkRecovery, NoConversation, RestoreNote, ResumeNote } from "../../../../restore/notes.ts";
import { checkpointDefectText } from "../checkpoints.ts";
import { listed } from "../words.ts";

const INDEX_LEFT = {
  "earlier-version": "an earlier version started this restore",
  "head-moved": "HEAD has moved since",
  locked: "another git process holds the index",
} as const;

const BRANCH_LEFT = {
  "commit-not-kept": "its current commit could not be kept",
  changed: "it has changed since",
} as const;

/** A note of a receipt, a fork or a recovery. */
export type Note = RestoreNote | ForkRecovery | MaintenanceEvent;

export function noteText(note: Note): string {
  switch (note.kind) {
    case "restore-unreadable":
      return `The files of an interrupted restore in ${note.directory} can't be read, and were left there.`;
    case "restore-finished": {
      const redo = note.restore === "fork" ? "" : "; undo it with `backtrail redo`";
      return `Finished an interrupted ${note.restore}${redo}.`;
    }
    case "restore-not-finished":
      return `An interrupted ${note.restore} could not be finished: ${note.reason}`;
    case "saved-before-finishing":
      return `The previous state is saved as step ${note.step}.`;
    case "conversation-continues":
      return `Continue the conversation with: ${note.command}`;
    case "files-kept":
      return `The last content of ${plural(note.paths.length, "replaced file")} (${listed(note.paths, 3)}) is not in the safety step; it is kept in ${note.directory}.`;
    case "branch-not-moved":
      return `The branch was not moved: ${BRANCH_LEFT[note.why]}.`;
    case "index-left":
      return `Staged changes were left as they are: ${INDEX_LEFT[note.why]}.`;
    case "index-refused":
      return `Staged changes were left as they are: ${note.reason}.`;
    case "staged-left":
      return `Staged changes of ${listed(note.paths)} were left as they are: they have changed since.`;
    case "copy-gone":
      return "The copy of the conversation was removed.";
    case "copy-failed":
      return `The conversation could not be copied: ${note.reason}`;
    case "no-conversation":
      return noConversationText(note.reason);
    case "agent-notified":
      return "The copy of the conversation ends with a notice of what was undone.";
    case "agent-not-notified":
      return `Backtrail can't notify this agent. Paste this when you continue:\n\n${note.notice}\n`;
    case "conflict-markers":
      return `Look for "<<<<<<< now" and resolve the conflicts in ${listed(note.paths)}.`;
    case "conflicts-left":
      return `In conflict, and left unchanged because markers can't show it: ${listed(note.paths)}.`;
    case "all-as-before":
      return "All files are as they were before.";
    case "changed-meanwhile":
      return `${listed(note.paths)} ${note.paths.length === 1 ? "has changed since, and was left as it is" : "have changed since, and were left as they are"}. All other files are as they were before. The complete previous state is saved as step ${note.safetyStep}.`;
    case "files-left":
      return `The content of ${listed(note.paths)} exists nowhere else, so it stays in ${shownPath(note.directory)}.`;
    case "private-files-missing":
      return `Files that others may not read are not in it: ${listed(note.paths)}.`;
    case "ignored-files-missing":
      return `Ignored files are not in it: ${listed(note.paths)}.`;
    case "submodules-missing":
      return "Submodules are not in it. Fetch them with `git submodule update --init` there.";
    case "commit-forked":
      return "A commit has no conversation: the fork has only the files.";
    case "commit-not-handed-off":
      return "A commit has no conversation to hand over.";
    case "hooks":
      return note.text;
    case "not-the-fork":
      return `${shownPath(note.directory)} no longer belongs to the fork, and is left alone.`;
    case "fork-not-finished":
      return `The fork ${note.fork}, which was being ${note.action === "make" ? "made" : "dropped"}, could not be finished: ${note.reason}`;
    case "fork-finished": {
      const command = note.command === null ? "" : ` Continue the conversation with: ${note.command}`;
      return `Finished creating the fork ${note.fork} after an interruption.${command}`;
    }
    case "fork-cleared":
      return `Removed the fork ${note.fork}, which was interrupted before it had files.`;
    case "fork-running":
      return `The fork ${note.fork} is still being made by a git that has outlived its command.`;
    case "fork-stays":
      return `The fork ${note.fork} is still there: dropping it was interrupted before anything was removed.`;
    case "fork-dropped": {
      const saved = note.step === null ? "" : ` Its last state is step ${note.step}.`;
      return `Finished dropping the fork ${note.fork} after an interruption.${saved}`;
    }
    case "fork-commits-kept":
      return `Commits that only it had are kept: git log ${note.ref}`;
    case "fork-staged-kept":
      return `Its staged changes are kept: git ls-tree -r ${note.ref}`;
    case "fork-repository-kept":
      return `A repository that was in it is kept in ${shownPath(note.directory)}.`;
    case "saves-finished":
      return `Finished saving ${plural(note.steps, "step")} that a killed process had left behind.`;
    case "turns-closed":
      return `Closed ${plural(note.turns, "interrupted turn")}.`;
    case "purge-interrupted":
      return "`backtrail purge` was interrupted before anything was removed.";
    case "purge-finished":
      return "Finished removing what was recorded here.";
    case "forget-finished":
      return `Finished forgetting ${plural(note.conversations, "conversation")}.`;
    case "hooks-put-back":
      return `${shownPath(note.file)} was deleted, perhaps by \`git clean\`. The hooks of ${note.agent} are back in it.`;
  }
}

export function resumeNoteText(note: ResumeNote): string {
  switch (note.kind) {
    case "other-sessions":
      return `It has other sessions too (--session): ${note.sessions.join(", ")}.`;
    case "written-elsewhere":
      return `It was written elsewhere: \`backtrail explain ${note.checkpoint} --conversation\` shows what the agent will read.`;
    case "secrets-removed":
      return `Secrets were taken out before it was shared: ${plural(note.count, "placeholder stands", "placeholders stand")} for them.`;
    case "damaged":
      return checkpointDefectText(note.defect);
    case "compact":
      return "Only a compact transcript is stored: the agent gets a summary of the conversation.";
    case "agent-not-recorded":
      return `${note.name} is not recorded here: \`backtrail enable --agent ${note.agent}\`.`;
  }
}

export function noConversationText(reason: NoConversation): string {
  switch (reason.kind) {
    case "no-transcript":
      return "Chat rewind unavailable (no transcript found)";
    case "not-supported":
      return reason.why === undefined
        ? `Chat rewind unavailable (not supported for ${reason.agent})`
        : `${reason.agent} can't rewind its chat: ${reason.why}`;
    case "begins-later":
      return "This is before the first prompt of the conversation: start a new session.";
    case "outside":
      return "The copy of the conversation would be outside the agent's directory.";
    case "code-only":
      return "Only the files were asked for.";
    case "some-files":
      return "Only some files were asked for; the conversation was not changed.";
    case "commit":
      return "A commit has no conversation.";
    case "undo-only":
      return "The conversation was not changed; --tell-agent adds a notice of what was undone.";
    case "unchanged":
      return "The conversation was not changed.";
    case "notified-later":
      return "The agent is told with its next prompt.";
    case "went-on":
      return `The conversation is not changed, because it has continued. Continue the earlier one with: backtrail resume ${reason.session}`;
  }
}
