/** The words for conflicts: obstacles to a restore, and who changed the same lines. */
import { oneLine, shownPath } from "../../../../base/text.ts";
import type { ConflictReason, ConflictSource, MergeConflictKind } from "../../../../restore/types.ts";

const MERGE_CONFLICTS: Record<MergeConflictKind, string> = {
  "same-lines": "the same or neighboring lines were changed since",
  binary: "it is binary and was changed since",
  "removed-and-changed": "one side removed it, the other changed it",
  "created-and-changed": "it was created by this turn and changed since",
  deleted: "it was deleted since",
  changed: "it was changed since",
  "not-plain": "it is not a regular file, and was changed since",
  moved: "it was moved or replaced since",
};

const OBSTACLES = { symlink: "a symbolic link", file: "a file", "special-file": "a special file" } as const;

/** Continues a sentence that names the file. */
export function conflictText(reason: ConflictReason): string {
  if (reason.kind === "obstacle") {
    return `${shownPath(reason.parent)} is ${OBSTACLES[reason.type]} that is not recorded`;
  }
  if (reason.kind === "shared") return `${sourceText(reason.by)} changed it at the same time`;
  const text = MERGE_CONFLICTS[reason.kind];
  return reason.by ? `${text} (by ${sourceText(reason.by)})` : text;
}

function sourceText(source: ConflictSource): string {
  switch (source.kind) {
    case "turn":
      return `${oneLine(source.agent)} in turn ${source.step}`;
    case "subagent":
      return `another subagent (${oneLine(source.name)})`;
    case "running-turn":
      return "a turn in progress";
    case "outside-turns":
      return "an edit outside of any turn";
  }
}
