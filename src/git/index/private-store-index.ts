/**
 * Advances the index of a private store. Nothing runs `git add` there, so every file would stay untracked; now and then
 * the newest snapshot becomes the commit and index that later snapshots are compared with.
 */
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { removeFile } from "../../base/fs/files.ts";
import { gitIn } from "../git.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { Workspace } from "../workspace.ts";
import { loadSnapshotCache } from "./stat-cache.ts";

/** Rereading fewer changes than this is faster than rewriting the index. */
export const WORTH_ADVANCING = 100;

const IDENTITY = {
  GIT_AUTHOR_NAME: "Backtrail",
  GIT_AUTHOR_EMAIL: "backtrail@localhost",
  GIT_COMMITTER_NAME: "Backtrail",
  GIT_COMMITTER_EMAIL: "backtrail@localhost",
};

export async function advancePrivateStore(workspace: Workspace): Promise<void> {
  if (workspace.kind !== "private") return;
  const cache = loadSnapshotCache(workspace);
  if (!cache || Object.keys(cache.files).length < WORTH_ADVANCING) return;
  const { work } = cache.result as Snapshot;
  const git = gitIn(workspace);
  const temporary = join(workspace.stateDir, `index.advance.${process.pid}`);
  const env = { ...IDENTITY, GIT_INDEX_FILE: temporary };
  try {
    await git.run(["read-tree", work], { env });
    await git.run(["update-index", "-q", "--refresh"], { env }).catch(() => {});
    const commit = await git.text(["commit-tree", work, "-m", "snapshot"], { env });
    if (existsSync(temporary)) renameSync(temporary, join(workspace.stateDir, "index"));
    removeFile(join(workspace.stateDir, "index.warm"));
    await git.run(["update-ref", "HEAD", commit]);
  } finally {
    removeFile(temporary);
  }
}
