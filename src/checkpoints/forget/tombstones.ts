/**
 * The sessions that were forgotten here, as digests of their ids, so that another machine's copies are not merged back.
 * docs/formats/store.md documents the file.
 */
import { join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { appendLine, readText } from "../../base/fs/files.ts";
import type { Workspace } from "../../git/workspace.ts";

/** Idempotent. */
export function rememberForgotten(workspace: Workspace, ids: Iterable<string>): void {
  const isForgotten = forgottenSessions(workspace);
  for (const id of ids)
    if (!isForgotten?.(id)) appendLine(fileOf(workspace), JSON.stringify({ v: 1, session: tombstoneKey(id) }));
}

/** Returns null if no session was forgotten. */
export function forgottenSessions(workspace: Workspace): ((id: string) => boolean) | null {
  const names = forgottenKeys(workspace);
  return names.size === 0 ? null : (id) => names.has(tombstoneKey(id));
}

/** The digests of all forgotten sessions. */
export function forgottenKeys(workspace: Workspace): Set<string> {
  const names = new Set<string>();
  for (const line of (readText(fileOf(workspace)) ?? "").split("\n")) {
    const name = /^\{"v":1,"session":"([0-9a-f]{64})"\}$/.exec(line)?.[1];
    if (name !== undefined) names.add(name);
  }
  return names;
}

/** The digest under which a session is known once it is forgotten. */
export function tombstoneKey(id: string): string {
  return hexDigest("sha256", "forgotten\0", id);
}

function fileOf({ storeDir }: Workspace): string {
  return join(storeDir, "forgotten.jsonl");
}
