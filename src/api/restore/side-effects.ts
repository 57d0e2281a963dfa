/** Library API: what no restore can undo. */
import type { Workspace } from "../../git/workspace.ts";
import { turnEffects } from "../../restore/side-effects/collect.ts";
import { findTurns } from "../../restore/targets/turns.ts";
import type { SideEffect } from "../types.ts";
import { WORDS } from "../words.ts";

/**
 * Lists the side effects of a turn that undoing it leaves in place: ignored files, commits, commands that reached
 * beyond the work tree. Accepts what `backtrail undo` accepts.
 *
 * @example
 * for (const { what, why } of await listSideEffects(workspace, "last")) console.log(`${what}: ${why}`);
 */
export async function listSideEffects(workspace: Workspace, turn: string): Promise<SideEffect[]> {
  const words = WORDS.get();
  const rows: SideEffect[] = [];
  for (const found of await findTurns(workspace, [turn]))
    rows.push(...(await turnEffects(workspace, found)).map(words.sideEffect));
  return rows;
}
