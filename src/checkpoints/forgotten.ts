/**
 * Sessions that were forgotten here, by digests of their ids: what another machine still has of them is not let in again.
 * docs/formats/store.md has the file.
 */
import { join } from "node:path";
import { hexDigest } from "../base/digest.ts";
import { appendLine, readText } from "../base/files.ts";
import type { Workspace } from "../git/workspace.ts";

/** Doing it twice is doing it once. */
export function rememberForgotten(workspace: Workspace, ids: Iterable<string>): void {
  const isForgotten = forgottenSessions(workspace);
  for (const id of ids)
    if (!isForgotten?.(id)) appendLine(fileOf(workspace), JSON.stringify({ v: 1, session: nameOf(id) }));
}

/** Null where nothing was. */
export function forgottenSessions(workspace: Workspace): ((id: string) => boolean) | null {
  const names = new Set<string>();
  for (const line of (readText(fileOf(workspace)) ?? "").split("\n")) {
    const name = /^\{"v":1,"session":"([0-9a-f]{64})"\}$/.exec(line)?.[1];
    if (name !== undefined) names.add(name);
  }
  return names.size === 0 ? null : (id) => names.has(nameOf(id));
}

function nameOf(id: string): string {
  return hexDigest("sha256", "forgotten\0", id);
}

function fileOf({ storeDir }: Workspace): string {
  return join(storeDir, "forgotten.jsonl");
}
