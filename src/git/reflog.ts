/**
 * Removes reflogs of Backtrail's own refs: git keeps every object that a reflog names, even after the ref has moved on.
 */
import { join } from "node:path";
import { removeFile } from "../base/fs/files.ts";
import { gitIn } from "./git.ts";
import type { Workspace } from "./workspace.ts";

/** Only for refs that Backtrail owns. Accepts a ref without a reflog. */
export async function removeReflog(workspace: Workspace, ref: string): Promise<void> {
  if (workspace.refStorage === "files") return removeFile(join(workspace.commonDir, "logs", ref));
  await gitIn(workspace).try(["reflog", "expire", "--expire=now", "--expire-unreachable=now", ref]);
}
