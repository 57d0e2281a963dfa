/** Indexes in the background: after a turn, and when a search could not catch up. Runs at the lowest priority. */
import { existsSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { logError } from "../base/log.ts";
import { findWorkspace, isEnabled } from "../git/workspace.ts";
import { indexPath } from "./index/open.ts";
import { Search } from "./search.ts";
import { updateIndex } from "./update/update.ts";

/** After a turn: indexes the new records of a work tree. */
export async function indexTurn(root: string): Promise<void> {
  const workspace = findWorkspace(root);
  // The first look at all of the user's files waits for the first search.
  if (!workspace || !isEnabled(workspace) || !existsSync(indexPath())) return;
  await quietly(async (search) => {
    if (!search.isFirst) await updateIndex(search.index, { workspace, look: "quick" });
  });
}

export async function indexEverything(): Promise<number> {
  await quietly((search) => search.update({ workspace: undefined }));
  return 0;
}

async function quietly(work: (search: Search) => Promise<unknown>): Promise<void> {
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch {
    // Not every system allows it.
  }
  try {
    const search = new Search();
    try {
      await work(search);
    } finally {
      search.close();
    }
  } catch (error) {
    logError("search", error);
  }
}
