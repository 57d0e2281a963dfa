/** Library API: opening a workspace. */
import { logTo } from "../base/log.ts";
import { requireWorkspace, type Workspace } from "../git/workspace.ts";
import { recover } from "./restore/recover.ts";
import { WORDS } from "./words.ts";

export interface OpenOptions {
  /** Receives a sentence about each thing that was finished or repaired first. */
  onRecovery?(note: string): void;
}

/**
 * Opens the workspace around a directory: the nearest git repository or folder in which Backtrail is enabled. Like
 * every command, first finishes whatever an interrupted command left unfinished. Throws a `UserError` of the kind
 * `not-found` if Backtrail is not enabled there.
 *
 * @example
 * const workspace = await openWorkspace("/home/ada/shop", { onRecovery: console.warn });
 * console.log(workspace.root);
 */
export async function openWorkspace(directory: string, { onRecovery }: OpenOptions = {}): Promise<Workspace> {
  const workspace = requireWorkspace(directory);
  logTo(workspace.storeDir);
  for (const event of await recover(workspace)) onRecovery?.(WORDS.get().note(event));
  return workspace;
}
