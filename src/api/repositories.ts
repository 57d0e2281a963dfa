/** Library API: the repositories of the user. */
import { existsSync } from "node:fs";
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import { openSearch } from "../search/search.ts";

/**
 * Lists the workspaces on this machine in which something was recorded, as far as the search index knows them.
 *
 * @example
 * for (const { root } of await listRepositories()) console.log(root);
 */
export async function listRepositories(): Promise<Workspace[]> {
  const opened = await openSearch();
  try {
    return opened.roots().flatMap((root) => {
      const workspace = existsSync(root) ? findWorkspace(root) : undefined;
      return workspace?.root === root && isEnabled(workspace) ? [workspace] : [];
    });
  } finally {
    opened.close();
  }
}
