/** A placeholder workspace for editing the user's settings outside of any repository. Stores nothing. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { dataDirectory } from "../../base/paths.ts";
import type { Workspace } from "../../git/workspace.ts";

export function outsideWorkspace(cwd: string): Workspace {
  const storeDir = join(dataDirectory(), "user-scope");
  return {
    kind: "private",
    root: realpathSync(cwd),
    gitDir: storeDir,
    commonDir: storeDir,
    worktree: "main",
    storeDir,
    stateDir: storeDir,
    hash: "sha1",
    refStorage: "files",
  };
}
