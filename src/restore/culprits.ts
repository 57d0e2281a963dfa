/** Whose change a conflict comes from: the first later turn after which the merge no longer goes through. */
import { oneLine } from "../base/text.ts";
import type { ObjectWriter } from "../git/objects.ts";
import type { TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../steps/model.ts";
import type { Conflict, Merge } from "./model.ts";
import { takeBack } from "./take-back.ts";

/** Each costs a merge. */
const MOST_TRIED = 12;

/** By path, in a few words. */
export async function whoConflicts(
  workspace: Workspace,
  objects: { trees: TreeStore; writer: ObjectWriter },
  { changes, later }: Merge,
  conflicts: readonly Conflict[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  if (later === null) return found;
  const concerned = later.filter((step) => conflicts.some(({ path }) => touches(step, path)));
  for (const step of concerned.slice(0, MOST_TRIED)) {
    const open = conflicts.filter(({ path }) => !found.has(path) && touches(step, path));
    if (open.length === 0) continue;
    const { work, raw } = step.snapshot;
    const then = await takeBack(workspace, objects, { work, raw }, changes, false);
    for (const { path } of then.conflicts) {
      if (open.some((conflict) => conflict.path === path))
        found.set(path, `${oneLine(step.agent ?? "")} turn ${step.turn}`);
    }
  }
  if (concerned.length > MOST_TRIED) return found;
  for (const { path } of conflicts) if (!found.has(path)) found.set(path, "an edit outside of any turn");
  return found;
}

function touches({ files }: Step, path: string): boolean {
  return files.modified.includes(path) || files.added.includes(path) || files.deleted.includes(path);
}
