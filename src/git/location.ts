/** How git is told where it works: by its own discovery in a repository, explicitly for a private store. */
import type { Workspace } from "./workspace.ts";

export function gitLocation(workspace: Workspace): { args: string[]; cwd: string } {
  if (workspace.kind === "repository") return { args: [], cwd: workspace.root };
  return { args: ["--git-dir", workspace.gitDir, "--work-tree", workspace.root], cwd: workspace.root };
}
