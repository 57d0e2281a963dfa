/** Tells git where to work: git discovers a repository itself; a private store is named explicitly. */
import type { Workspace } from "./workspace.ts";

export function gitLocation(workspace: Workspace): { args: string[]; cwd: string } {
  if (workspace.kind === "repository") return { args: [], cwd: workspace.root };
  return { args: ["--git-dir", workspace.gitDir, "--work-tree", workspace.root], cwd: workspace.root };
}
