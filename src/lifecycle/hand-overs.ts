/** Where the words lie that another agent was told: the name says whose conversation they are from, so that it can be forgotten. */
import { join } from "node:path";
import { namesIn } from "../base/files.ts";
import type { Workspace } from "../git/workspace.ts";

/** `key` is the session's. */
export function handOverFile(workspace: Workspace, name: string, key: string): string {
  return join(directoryOf(workspace), `${name}-${key}.md`);
}

export function handOversOf(workspace: Workspace, key: string): string[] {
  const directory = directoryOf(workspace);
  return namesIn(directory).flatMap((name) => (name.endsWith(`-${key}.md`) ? [join(directory, name)] : []));
}

function directoryOf({ storeDir }: Workspace): string {
  return join(storeDir, "hand-over");
}
