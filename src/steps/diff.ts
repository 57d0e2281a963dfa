/** Compares two states, as a list of paths or as a patch. */
import { gitIn } from "../git/git.ts";
import { ObjectReader } from "../git/objects/reader.ts";
import { compareTrees, type TreeDifference } from "../git/objects/tree-diff.ts";
import { TreeStore } from "../git/objects/trees.ts";
import { ObjectWriter } from "../git/objects/writer.ts";
import { readingEnvironment } from "../git/private/store.ts";
import { type CaptureOptions, type Snapshot, startCapture } from "../git/snapshot/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import type { FileChanges } from "../model/changes.ts";

const PATHS_AT_ONCE = 500;

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

/** The uncolored `git diff` between two trees. */
export async function patch(
  workspace: Workspace,
  before: string,
  after: string,
  paths: readonly string[] = [],
): Promise<string> {
  const limit = paths.length > 0 ? ["--", ...paths.map((path) => `:(top,glob)${path}`)] : [];
  const output = await gitIn(workspace).run(
    ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", before, after, ...limit],
    { env: readingEnvironment(workspace) },
  );
  return output.toString("utf8");
}

/** Like `patch`, for literal paths instead of patterns; runs in batches to keep the command line short. */
export async function patchOfFiles(
  workspace: Workspace,
  before: string,
  after: string,
  paths: readonly string[],
): Promise<string> {
  let text = "";
  for (let i = 0; i < paths.length; i += PATHS_AT_ONCE) {
    const literal = paths.slice(i, i + PATHS_AT_ONCE).map((path) => path.replace(/[\\*?[\]]/g, "\\$&"));
    text += await patch(workspace, before, after, literal);
  }
  return text;
}

/** Captures the current work tree to the object store without adding a step. */
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
