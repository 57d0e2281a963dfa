/** Lists the refs of all sessions. */
import { gitIn } from "../git/git.ts";
import type { Workspace } from "../git/workspace.ts";
import { SESSION_REFS } from "./session-tree.ts";

/** Maps each session key to the tree of its ref. */
export async function sessionRoots(workspace: Workspace): Promise<Map<string, string>> {
  const output = await gitIn(workspace).text(["for-each-ref", "--format=%(refname) %(objectname)", SESSION_REFS]);
  const roots = new Map<string, string>();
  for (const line of output.split("\n")) {
    const [ref, root] = line.split(" ");
    if (ref && root) roots.set(ref.slice(SESSION_REFS.length), root);
  }
  return roots;
}
