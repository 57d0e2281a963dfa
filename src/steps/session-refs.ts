/** Lists the refs of all sessions. */
import { gitLocation } from "../git/location.ts";
import { gitText } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import { SESSION_REFS } from "./session-tree.ts";

/** Maps each session key to the tree of its ref. */
export async function sessionRoots(workspace: Workspace): Promise<Map<string, string>> {
  const { args, cwd } = gitLocation(workspace);
  const output = await gitText([...args, "for-each-ref", "--format=%(refname) %(objectname)", SESSION_REFS], { cwd });
  const roots = new Map<string, string>();
  for (const line of output.split("\n")) {
    const [ref, root] = line.split(" ");
    if (ref && root) roots.set(ref.slice(SESSION_REFS.length), root);
  }
  return roots;
}
