/** Attributes a conflict to the first later turn after which the merge fails. */
import type { TreeStore } from "../../git/objects/trees.ts";
import type { ObjectWriter } from "../../git/objects/writer.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { readTurnStatuses } from "../targets/turn-status.ts";
import type { Conflict, ConflictSource, Merge } from "../types.ts";
import { revertChanges } from "./revert.ts";

/** Each attempt costs a merge. */
const MAX_TRIED = 12;

/** Who changed the conflicting lines, by path. */
export async function findConflictSource(
  workspace: Workspace,
  objects: { trees: TreeStore; writer: ObjectWriter },
  { changes, later }: Merge,
  conflicts: readonly Conflict[],
): Promise<Map<string, ConflictSource>> {
  const found = new Map<string, ConflictSource>();
  if (later === null || conflicts.length === 0) return found;
  const touching = later.filter((step) => conflicts.some(({ path }) => touches(step, path)));
  // What an undone or rewound turn changed is no longer in the files.
  const statuses = readTurnStatuses(workspace, later.toReversed());
  const concerned = touching.filter((step) => statuses.of(step) === null);
  for (const step of concerned.slice(0, MAX_TRIED)) {
    const open = conflicts.filter(({ path }) => !found.has(path) && touches(step, path));
    if (open.length === 0) continue;
    const { work, raw } = step.snapshot;
    const then = await revertChanges(workspace, objects, { work, raw }, changes, false);
    for (const { path } of then.conflicts) {
      if (open.some((conflict) => conflict.path === path))
        found.set(path, { kind: "turn", agent: step.agent ?? "", step: step.id });
    }
  }
  if (concerned.length > MAX_TRIED) return found;
  for (const { path } of conflicts) if (!found.has(path)) found.set(path, { kind: "outside-turns" });
  return found;
}

function touches({ files }: Step, path: string): boolean {
  return files.modified.includes(path) || files.added.includes(path) || files.deleted.includes(path);
}
