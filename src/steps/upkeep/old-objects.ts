/**
 * Tracks objects of the user's repository that held conversations before the move to private files. They are
 * unreferenced, but anyone who can read the repository can read them until git prunes them. `old-objects` in the store
 * lists them, one `<session key> <object id>` per line.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { appendLine, readText, removeFile, writeFileAtomic } from "../../base/fs/files.ts";
import { gitIn } from "../../git/git.ts";
import { ObjectWriter } from "../../git/objects/writer.ts";
import type { Workspace } from "../../git/workspace.ts";

/** Represents unknown objects of deleted steps: if git has pruned the witness, it has pruned these as well. */
export const WITNESS = "witness";

export interface OldObject {
  /** The session key. */
  key: string;
  id: string;
}

/** Idempotent. */
export function noteOldObjects(workspace: Workspace, key: string, ids: readonly string[]): void {
  if (ids.length > 0) appendLine(fileOf(workspace), ids.map((id) => `${key} ${id}`).join("\n"));
}

/** The objects that git still has, of the given sessions or of all. */
export async function oldObjects(workspace: Workspace, keys?: ReadonlySet<string>): Promise<OldObject[]> {
  const known = noted(workspace).filter(({ key }) => keys === undefined || keys.has(key));
  if (known.length === 0) return [];
  const input = `${known.map(({ id }) => id).join("\n")}\n`;
  const output = await gitIn(workspace).run(["cat-file", "--batch-check=%(objectname)"], { input });
  const lines = output.toString("latin1").split("\n");
  return known.filter((_, i) => !lines[i]?.endsWith(" missing"));
}

/** Removes objects that git has pruned from the list. */
export async function tidyOldObjects(workspace: Workspace): Promise<void> {
  if (!existsSync(fileOf(workspace))) return;
  const left = await oldObjects(workspace);
  if (left.length < noted(workspace).length) write(workspace, left);
}

/**
 * Adds an unreferenced object that git will prune together with the objects of steps that an earlier version deleted.
 * Those objects may still be in git's object store, but no list names them.
 */
export function leaveWitness(workspace: Workspace): void {
  if (noted(workspace).some(({ key }) => key === WITNESS)) return;
  const writer = new ObjectWriter(workspace);
  const id = writer.add("blob", Buffer.from(`backtrail ${WITNESS} ${crypto.randomUUID()}\n`));
  writer.flush();
  noteOldObjects(workspace, WITNESS, [id]);
}

function noted(workspace: Workspace): OldObject[] {
  const found = new Map<string, OldObject>();
  for (const line of (readText(fileOf(workspace)) ?? "").split("\n")) {
    const [, key, id] = /^([0-9a-f]{20}|witness) ([0-9a-f]{40,64})$/.exec(line) ?? [];
    if (key && id) found.set(line, { key, id });
  }
  return [...found.values()];
}

function write(workspace: Workspace, objects: readonly OldObject[]): void {
  if (objects.length === 0) removeFile(fileOf(workspace));
  else writeFileAtomic(fileOf(workspace), objects.map(({ key, id }) => `${key} ${id}\n`).join(""), { sync: true });
}

function fileOf({ storeDir }: Workspace): string {
  return join(storeDir, "old-objects");
}
