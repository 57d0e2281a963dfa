/** What differs between two states, as paths and as a patch. */
import { gitLocation } from "../git/location.ts";
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import { git } from "../git/run.ts";
import { type CaptureOptions, type Snapshot, startCapture } from "../git/snapshot.ts";
import { compareTrees, type TreeDifference } from "../git/tree-diff.ts";
import { TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import type { FileChanges } from "../transcripts/model.ts";

export async function diffTrees(
  workspace: Workspace,
  before: string | null,
  after: string | null,
): Promise<TreeDifference[]> {
  if (before === after) return [];
  const reader = new ObjectReader(workspace);
  try {
    return await compareTrees(new TreeStore(reader, new ObjectWriter(workspace)), before, after);
  } finally {
    reader.close();
  }
}

/** `git diff` text, uncoloured, between two trees. */
export async function patch(
  workspace: Workspace,
  before: string,
  after: string,
  paths: readonly string[] = [],
): Promise<string> {
  const { args, cwd } = gitLocation(workspace);
  const limit = paths.length > 0 ? ["--", ...paths.map((path) => `:(top,glob)${path}`)] : [];
  const output = await git(
    [...args, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", before, after, ...limit],
    { cwd },
  );
  return output.toString("utf8");
}

/** The state of the work tree now, in the object store but in no step. */
export async function currentSnapshot(workspace: Workspace, options: CaptureOptions): Promise<Snapshot> {
  const capture = startCapture(workspace, options);
  try {
    const snapshot = await capture.finish();
    capture.writer.flush();
    return snapshot;
  } finally {
    capture.close();
  }
}

export function changesBetween(differences: readonly TreeDifference[]): FileChanges {
  const changes: FileChanges = { added: [], modified: [], deleted: [] };
  for (const { path, status } of differences) changes[status === "mode" ? "modified" : status].push(path);
  return changes;
}
