/** The sessions in OpenCode's database, which is opened read-only. */
import { statSync } from "node:fs";
import {
  databasePath,
  type StoredSession,
  storedSessions,
  transcriptOf,
} from "../../agents/builtin/opencode/database.ts";
import { getAgent } from "../../agents/registry/registry.ts";
import { logError } from "../../base/log.ts";
import { openDatabase } from "../index/database.ts";
import type { SearchIndex } from "../index/store.ts";
import { documentsOf } from "./documents.ts";
import { placeOf } from "./native.ts";
import type { StoredConversation } from "./stored.ts";

const AGENT = "opencode";

/** `seen` gets what tells the next time that nothing is new. */
export function openCodeSessions(index: SearchIndex, seen: Map<string, number>): StoredConversation[] {
  const path = databasePath();
  const modified = modifiedAt(path);
  const row = index.database.statement("select modified from folders where path = ?").get(path);
  if (modified === 0 || (row as { modified: number } | undefined)?.modified === modified) return [];
  const sessions = reading(path, storedSessions) ?? [];
  seen.set(path, modified);
  const places = new Map<string, ReturnType<typeof placeOf>>();
  return sessions.map((session) => conversationOf(path, session, placeOf(session.directory, places)));
}

/** The last change is in the write-ahead log as long as OpenCode runs. */
function modifiedAt(path: string): number {
  const times = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return times[0] === 0 ? 0 : Math.round(Math.max(...times));
}

function conversationOf(
  path: string,
  { id, parent, updated }: StoredSession,
  place: ReturnType<typeof placeOf>,
): StoredConversation {
  return {
    ...{ agent: AGENT, session: parent ?? id, part: parent === null ? "" : id, ...place },
    ...{ origin: path, size: 0, modified: updated },
    async documents() {
      const bytes = reading(path, (query) => transcriptOf(query, id));
      const entries = bytes ? (await getAgent(AGENT))?.analyzer?.read(bytes).entries : undefined;
      return entries ? [...documentsOf(entries, { turns: 0, time: updated }, ({ start }) => start)] : [];
    },
  };
}

function reading<T>(path: string, read: (query: (sql: string, ...values: string[]) => unknown[]) => T): T | undefined {
  try {
    const database = openDatabase(path, { readOnly: true });
    try {
      return read((sql, ...values) => database.statement(sql).all(...values));
    } finally {
      database.close();
    }
  } catch (error) {
    // Another version of OpenCode may have other tables.
    logError("search opencode", error);
    return undefined;
  }
}
