/**
 * Counts the wide trees that were stored loose. They are not compressed, so the worker packs them soon. The size of a
 * file is the count.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { appendLine, removeFile } from "../../base/fs/files.ts";
import type { Workspace } from "../workspace.ts";

const MANY = 20;

type Place = Pick<Workspace, "stateDir">;

export function countWideTrees(workspace: Place, written: number): void {
  for (let i = 0; i < written; i++) appendLine(fileOf(workspace), "");
}

/** Whether there are enough for packing to pay off. */
export function hasManyWideTrees(workspace: Place): boolean {
  return (statSync(fileOf(workspace), { throwIfNoEntry: false })?.size ?? 0) >= MANY;
}

/** Starts over, after the trees were packed. */
export async function restartWideTreeCount(workspace: Place): Promise<void> {
  if (hasManyWideTrees(workspace)) removeFile(fileOf(workspace));
}

function fileOf({ stateDir }: Place): string {
  return join(stateDir, "loose-wide-trees");
}
