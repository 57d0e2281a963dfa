/** Removes forgotten sessions and steps, and purged repositories, from the search index at once. */
import { existsSync } from "node:fs";
import { logError } from "../base/log.ts";
import { forgottenSessions } from "../checkpoints/forget/tombstones.ts";
import type { Workspace } from "../git/workspace.ts";
import type { SessionRef } from "../model/session.ts";
import type { Value } from "./index/database-types.ts";
import { CHANGES } from "./index/documents.ts";
import { indexPath, openIndex } from "./index/open.ts";
import { SearchIndex } from "./index/store.ts";

export interface Forgotten {
  sessions: readonly SessionRef[];
  /** Ids of single steps. */
  steps: readonly string[];
  /** The steps of the sessions stay, and so do their changes. */
  conversationOnly: boolean;
}

/** False if the index can't be changed. */
export function forgetInIndex({ sessions, steps, conversationOnly }: Forgotten): boolean {
  return withIndex((index) => {
    for (const { agent, session } of sessions) {
      const kept = conversationOnly ? [CHANGES] : [];
      const where = `agent = ? and session = ?${conversationOnly ? " and part != ?" : ""}`;
      removeConversations(index, where, agent, session, ...kept);
    }
    for (const step of steps) index.segments.removeWhere("step = ?", step);
  });
}

/** Removes everything that was recorded in a repository. */
export function purgeInIndex({ storeDir, root }: Workspace): boolean {
  return withIndex((index) => {
    removeConversations(index, "store = ?", storeDir);
    index.database.statement("delete from repositories where root = ?").run(root);
    index.database.statement("delete from state where key = ?").run(`changes ${storeDir}`);
  });
}

/** Finishes the work of killed processes: removes sessions that the repository lists as forgotten. */
export function removeForgotten(index: SearchIndex, workspace: Workspace): void {
  const isForgotten = forgottenSessions(workspace);
  if (!isForgotten) return;
  const left = index
    .conversations("store = ? and part != ?", workspace.storeDir, CHANGES)
    .filter(({ session }) => isForgotten(session));
  if (left.length > 0)
    index.transaction(() => {
      for (const { id } of left) index.removeConversation(id);
    });
  remakeAll(index);
}

function withIndex(remove: (index: SearchIndex) => void): boolean {
  if (!existsSync(indexPath())) return true;
  try {
    const index = new SearchIndex(openIndex());
    try {
      index.transaction(() => remove(index));
      remakeAll(index);
      // Otherwise the deleted text stays in the file with the latest changes.
      index.database.execute("pragma wal_checkpoint(truncate)");
    } finally {
      index.close();
    }
    return true;
  } catch (error) {
    logError("search index", error);
    return false;
  }
}

function removeConversations(index: SearchIndex, where: string, ...values: Value[]): void {
  for (const { id } of index.conversations(where, ...values)) index.removeConversation(id);
}

/** Words of removed texts go only with their segment. */
function remakeAll(index: SearchIndex): void {
  for (const segment of index.segments.withRemoved(false)) index.transaction(() => index.segments.remake(segment));
}
