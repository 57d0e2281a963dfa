/**
 * Lists the sessions whose transcripts Backtrail wrote itself, as copies for rewinds and forks. Reads the files of the
 * layer above by their documented formats (docs/formats/restores.md, operations.md).
 */
import { join } from "node:path";
import { readText } from "../../base/fs/files.ts";
import type { Workspace } from "../../git/workspace.ts";
import { listForks } from "../../steps/forks.ts";

export function copiedSessions(workspace: Workspace): Set<string> {
  const sessions = new Set<string>();
  for (const { chat } of listForks(workspace)) if (chat?.session) sessions.add(chat.session);
  for (const line of linesOf(join(workspace.stateDir, "restores.jsonl"))) add(sessions, line["fork"], "id");
  for (const line of linesOf(join(workspace.stateDir, "operations.jsonl"))) {
    const fork = line["fork"];
    if (typeof fork === "object" && fork !== null && "chat" in fork) add(sessions, fork.chat, "session");
  }
  return sessions;
}

function add(sessions: Set<string>, value: unknown, key: string): void {
  const id = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  if (typeof id === "string") sessions.add(id);
}

/** Skips torn lines. */
function linesOf(file: string): Record<string, unknown>[] {
  return (readText(file) ?? "").split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === "object" && value !== null ? [value as Record<string, unknown>] : [];
    } catch {
      return [];
    }
  });
}
