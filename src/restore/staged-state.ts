/** What is staged: how the user's index would have to change, and changing it with git's own means. */

import { logError } from "../base/log.ts";
import { nulSeparated } from "../git/conversion.ts";
import { gitLocation } from "../git/location.ts";
import { tryGit } from "../git/run.ts";
import type { Snapshot } from "../git/snapshot.ts";
import { compareTrees } from "../git/tree-diff.ts";
import type { TreeStore } from "../git/trees.ts";
import { changeUserIndex } from "../git/user-index.ts";
import type { Workspace } from "../git/workspace.ts";
import type { StepSnapshot } from "../steps/model.ts";
import type { IndexPlan } from "./journal.ts";
import { indexLine } from "./stage.ts";
import { entryAt } from "./state.ts";

/** null where the index is as it should be. */
export async function planIndex(
  trees: TreeStore,
  present: Snapshot,
  target: StepSnapshot,
  unwatched: ReadonlySet<string>,
): Promise<IndexPlan | null> {
  const entries = new Map<string, IndexPlan["entries"][number]>();
  for (const { path, after } of await compareTrees(trees, present.index, target.index))
    entries.set(path, { path, entry: after });
  const sameStages = JSON.stringify(present.unmerged) === JSON.stringify(target.unmerged);
  const unmerged = sameStages ? [] : target.unmerged;
  const odd = [...(sameStages ? [] : present.unmerged.map(({ path }) => path)), ...present.intentToAdd];
  const intended = new Set(target.intentToAdd);
  for (const path of odd) {
    if (!entries.has(path) && !intended.has(path))
      entries.set(path, { path, entry: await entryAt(trees, target.index, path) });
  }
  const already = new Set(present.intentToAdd);
  const intentToAdd = target.intentToAdd.filter((path) => !already.has(path));
  const kept = [...entries.values()].filter(({ path }) => !unwatched.has(path));
  return kept.length + unmerged.length + intentToAdd.length === 0 ? null : { entries: kept, unmerged, intentToAdd };
}

/** A sentence where it could not be done. Doing it twice does no harm. */
export async function restoreIndex(workspace: Workspace, plan: IndexPlan): Promise<string | undefined> {
  const { args, cwd } = gitLocation(workspace);
  const input = Buffer.concat(linesOf(plan, workspace.hash === "sha1" ? 40 : 64));
  let why = "another git process holds the index";
  const outcome = await changeUserIndex(workspace, async (env) => {
    const result = await tryGit([...args, "update-index", "-z", "--index-info"], { cwd, env, input });
    if (result.code !== 0) {
      why = result.stderr.trim().split("\n").at(-1) ?? "git refused";
      return false;
    }
    if (plan.intentToAdd.length === 0) return true;
    await tryGit([...args, "add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"], {
      cwd,
      env: { ...env, GIT_LITERAL_PATHSPECS: "1" },
      input: nulSeparated(plan.intentToAdd),
    });
    return true;
  });
  return outcome === "done" ? undefined : `What is staged was left as it is: ${why}.`;
}

/** Lets git note the new files' times, so that the next status is quick. Nobody depends on it. */
export async function refreshIndex(workspace: Workspace): Promise<void> {
  if (workspace.kind === "private") return;
  const { args, cwd } = gitLocation(workspace);
  try {
    await changeUserIndex(workspace, async (env) => {
      await tryGit([...args, "update-index", "-q", "--refresh"], { cwd, env });
      return true;
    });
  } catch (error) {
    logError("refreshing the index", error);
  }
}

function linesOf(plan: IndexPlan, idLength: number): Buffer[] {
  const lines: Buffer[] = [];
  // A path's stages go with its removal; only then can others take their place.
  for (const { path } of plan.entries) lines.push(indexLine(path, null, 0, idLength));
  for (const { path } of plan.unmerged) lines.push(indexLine(path, null, 0, idLength));
  const conflicted = new Set(plan.unmerged.map(({ path }) => path));
  for (const { path, entry } of plan.entries) if (entry && !conflicted.has(path)) lines.push(indexLine(path, entry));
  for (const { path, stages } of plan.unmerged) {
    for (const [stage, mode, id] of stages) lines.push(indexLine(path, { mode, id }, stage));
  }
  return lines;
}
