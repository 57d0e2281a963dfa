/** Locates handoff files. Their names contain the source session's key, so that `forget` can find them. */
import { join } from "node:path";
import { namesIn } from "../base/fs/files.ts";
import type { Workspace } from "../git/workspace.ts";

/** `key` is the source session's key. */
export function handoffFile(workspace: Workspace, name: string, key: string): string {
  return join(directoryOf(workspace), `${name}-${key}.md`);
}

export function handoffFilesOf(workspace: Workspace, key: string): string[] {
  const directory = directoryOf(workspace);
  return namesIn(directory).flatMap((name) => (name.endsWith(`-${key}.md`) ? [join(directory, name)] : []));
}

function directoryOf({ storeDir }: Workspace): string {
  return join(storeDir, "hand-over");
}
