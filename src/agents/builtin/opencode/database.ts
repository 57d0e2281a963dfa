/**
 * OpenCode's own database: where it is, and its sessions as the transcripts that our plugin would write. Only read, never
 * changed; the caller opens it.
 */
import { join } from "node:path";
import { isRecord } from "../../../base/json.ts";
import { homeDirectory } from "../../../base/paths.ts";

export type Query = (sql: string, ...values: string[]) => unknown[];

export interface StoredSession {
  id: string;
  /** The session that started it; null if the user did. */
  parent: string | null;
  directory: string;
  /** Milliseconds since 1970. */
  updated: number;
}

export function databasePath(env: NodeJS.ProcessEnv = process.env): string {
  return join(env["XDG_DATA_HOME"] || join(homeDirectory(), ".local", "share"), "opencode", "opencode.db");
}

export function storedSessions(query: Query): StoredSession[] {
  return query("select id, parent_id, directory, time_updated from session").flatMap((row) => {
    if (!isRecord(row)) return [];
    const { id, parent_id: parent, directory, time_updated: updated } = row;
    if (typeof id !== "string" || typeof directory !== "string") return [];
    return [{ id, parent: typeof parent === "string" ? parent : null, directory, updated: Number(updated) || 0 }];
  });
}

/** In lines, as transcript.ts reads them. */
export function transcriptOf(query: Query, session: string): Buffer {
  const parts = Map.groupBy(
    query("select id, message_id as message, data from part where session_id = ? order by id", session).filter(
      isRecord,
    ),
    ({ message }) => String(message),
  );
  const lines: unknown[] = query("select id, title from session where id = ?", session).map((info) => ({
    type: "session",
    info,
  }));
  for (const row of query("select id, data from message where session_id = ? order by time_created, id", session)) {
    if (!isRecord(row)) continue;
    const own = (parts.get(String(row["id"])) ?? []).map((part) => ({ ...dataOf(part), id: part["id"] }));
    lines.push({ type: "message", info: { ...dataOf(row), id: row["id"], sessionID: session }, parts: own });
  }
  return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

function dataOf({ data }: Record<string, unknown>): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(String(data));
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
