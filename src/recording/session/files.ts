/** Deletes a session's files other than its steps: state, marks, notices, proposals, and checkpoint progress. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { removeFile } from "../../base/fs/files.ts";
import type { Workspace } from "../../git/workspace.ts";
import { forgetProposals } from "../../steps/proposals.ts";
import { forgetNotices } from "../restore-notices.ts";
import { stateFile } from "./store.ts";

const MARKS = ["open", "active", "pending"] as const;

/** Ignores missing files, so it can safely run again. */
export function forgetSessionFiles(workspace: Workspace, key: string): void {
  for (const file of sessionFiles(workspace, key)) rmSync(file, { force: true });
  forgetNotices(workspace, key);
  forgetProposals(workspace, key);
  removeFile(stateFile(workspace, key));
}

function sessionFiles(workspace: Workspace, key: string): string[] {
  const { storeDir } = workspace;
  const marks = namesIn(join(storeDir, "worktrees")).flatMap((worktree) =>
    MARKS.map((mark) => join(storeDir, "worktrees", worktree, mark, key)),
  );
  return [
    ...marks,
    join(storeDir, "checkpoints", `${key}.json`),
    join(storeDir, "checkpoints", "chunks", `${key}.json`),
    `${stateFile(workspace, key)}.broken`,
  ];
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
