/** Describes the user's operations, each in one line. */
import { oneLine } from "../../../base/text.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { type RestoreRecord, readRestores } from "../../../restore/apply/restore-log.ts";
import { type RestoreSubject, subjectOf } from "../../../restore/operations/describe.ts";
import type { Operation } from "../../../restore/operations/list.ts";
import { titleOf } from "../timeline/timeline.ts";

/** `Rewound to before "Tidy up"` */
export function operationSentence(workspace: Workspace, operation: Operation): string {
  switch (operation.kind) {
    case "save":
      return operation.name === null ? "Saved without a name" : `Saved "${oneLine(operation.name)}"`;
    case "drop":
      return `Dropped the fork ${oneLine(operation.drop.fork.name)}`;
    case "rewind":
      return `Rewound ${partOf(operation.restore)}${subjectWords(subjectOf(workspace, operation.restore))}`;
    case "undo":
      return `Undid ${subjectWords(subjectOf(workspace, operation.restore))}`;
    case "take":
      return `Took ${subjectWords(subjectOf(workspace, operation.restore))}`;
    default:
      return (
        redone(workspace, operation) ??
        `Undid the ${operation.reversed ?? "operation"} ${operation.takesBack ?? ""}`.trimEnd()
      );
  }
}

/** `Redid "Tidy up"`, where an undo of turns was reverted. */
function redone(workspace: Workspace, { reversed, takesBack }: Operation): string | null {
  const undo = reversed === "undo" ? readRestores(workspace).find(({ id }) => id === takesBack) : undefined;
  return undo ? `Redid ${subjectWords(subjectOf(workspace, undo))}` : null;
}

/** The name of a restore within a sentence: `the rewind to before "Tidy up"`. */
export function restoreName(restore: RestoreRecord, subject: RestoreSubject): string {
  const part = partOf(restore);
  if (restore.kind === "rewind") return `the rewind ${part && `of ${part}`}${subjectWords(subject)}`;
  if (restore.kind === "redo" || restore.kind === "fork") return `the ${restore.kind} ${restore.id}`;
  return `the ${restore.kind} of ${subjectWords(subject)}`;
}

/** The part of the work tree that the restore covered, unless it covered everything. */
function partOf({ scope, paths }: RestoreRecord): string {
  if (scope === "chat") return "the conversation ";
  if (scope === "code") return "the files ";
  return scope === "paths" ? `${(paths ?? []).map(oneLine).join(", ")} ` : "";
}

function subjectWords(subject: RestoreSubject): string {
  if (subject.kind === "state") return `to commit ${subject.commit.slice(0, 12)}`;
  if (subject.kind === "fork") return `the fork ${oneLine(subject.name)}`;
  if (subject.kind === "turns") return subject.turns.map(turnWords).join(", ");
  const { found, id } = subject;
  if (!found) return `to step ${id}`;
  if (found.kind === "turn-start") return `to before "${titleOf(found)}"`;
  return found.kind === "turn-end" ? `to after "${titleOf(found)}"` : `to step ${id} (${titleOf(found)})`;
}

function turnWords({ prompt, isSubagent }: { prompt: string | null; isSubagent: boolean }): string {
  const title = prompt === null ? "a turn" : `"${oneLine(prompt)}"`;
  return isSubagent ? `a subagent's work in ${title}` : title;
}
