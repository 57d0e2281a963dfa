/** The files in which a session is known, beside its steps: its state, its marks, how far its checkpoints have come. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { removeFile } from "../base/files.ts";
import type { Workspace } from "../git/workspace.ts";
import { stateFile } from "./session-state.ts";

const MARKS = ["open", "active", "pending"] as const;

/** Removing what is not there does no harm: it can be done again. */
export function forgetSessionFiles(workspace: Workspace, key: string): void {
  for (const file of sessionFiles(workspace, key)) rmSync(file, { force: true });
  removeFile(stateFile(workspace, key));
}

export function sessionFiles(workspace: Workspace, key: string): string[] {
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
