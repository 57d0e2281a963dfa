/**
 * Deletes the files a restore moved aside. Reads each file right before deleting it and deletes it only if a safety
 * step holds exactly that content. Moves all others to a directory that is reported to the user.
 */

import { mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { namesIn } from "../../base/fs/files.ts";
import { onDisk, parentOf } from "../../base/fs/path-bytes.ts";
import { ObjectStore } from "../../git/objects/object-store.ts";
import { entryAt, SYMLINK_MODE } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { RestoreNote } from "../notes.ts";
import type { KeptFile } from "../types.ts";
import { contentId } from "./content.ts";
import { type Journal, restoreDirectory } from "./journal.ts";
import { removeEmptyTree, safeStat } from "./move.ts";

/** Suffix of a placed file that a rollback removed again. */
export const WITHDRAWN = ".out";

/** How often a restore clears a path before it gives up. */
export const MAX_ASIDES = 5;

export function asideDirectory(restore: string): string {
  return join(restore, "old");
}

/** Names of the files moved aside from one path, oldest first. */
export function asidesOf(names: ReadonlySet<string>, slot: number): string[] {
  const found = names.has(String(slot)) ? [String(slot)] : [];
  for (let i = 1; i <= MAX_ASIDES; i++) if (names.has(`${slot}.${i}`)) found.push(`${slot}.${i}`);
  return found;
}

/** The content ids that the n-th written file can have had when it was placed. */
export function placedIds({ v, placed, files }: Journal, n: number): string[] {
  const write = files.write[n];
  if (v === 3 || !write) return placed?.[n] === undefined ? [] : [placed[n]];
  // Journals of earlier versions don't record the content after git's conversion.
  const { raw, entry } = write;
  return [entry.mode === SYMLINK_MODE ? `link ${entry.id}` : (raw ?? entry.id)];
}

/**
 * Empties the aside directory. Returns the files that were kept because no safety step holds them, also those that an
 * interrupted attempt kept: it could not report them.
 */
export async function discardReplaced(workspace: Workspace, journal: Journal): Promise<KeptFile[]> {
  const directory = asideDirectory(restoreDirectory(workspace, journal.id));
  const names = namesIn(directory);
  const kept = keptBefore(workspace, journal.id);
  if (names.length === 0) return kept;
  const paths = [...journal.files.delete, ...journal.files.write.map(({ path }) => path)];
  const held = await heldContents(workspace, journal);
  for (const name of names) {
    const aside = join(directory, name);
    const slot = Number.parseInt(name, 10);
    const path = paths[slot] ?? name;
    const known = name.endsWith(WITHDRAWN) ? placedIds(journal, slot - journal.files.delete.length) : [];
    // An incomplete copy: the original is still in its location.
    if (name.endsWith(".part")) {
      unlinkSync(aside);
      continue;
    }
    const content = contentId(aside, workspace.hash);
    if (content !== undefined && (known.includes(content) || held(path, content))) unlinkSync(aside);
    else if (!removeEmptyTree(aside)) kept.push(keep(workspace, journal.id, path, aside));
  }
  // Fails if a new file appeared: no file is deleted unread.
  rmdirSync(directory);
  return kept;
}

function keptBefore(workspace: Workspace, id: string): KeptFile[] {
  const directory = keptDirectory(workspace, id);
  if (!safeStat(directory)) return [];
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((place) => ({ path: relative(directory, place), place }));
}

/** A note for the user; none if no file was kept. */
export function keptNotes(workspace: Workspace, id: string, kept: readonly KeptFile[]): RestoreNote[] {
  if (kept.length === 0) return [];
  return [{ kind: "files-kept", paths: kept.map(({ path }) => path), directory: keptDirectory(workspace, id) }];
}

function keptDirectory(workspace: Workspace, id: string): string {
  return join(workspace.stateDir, "kept", id);
}

/** Tests whether a safety step can restore this content at this path. */
async function heldContents(
  workspace: Workspace,
  journal: Journal,
): Promise<(path: string, content: string) => boolean> {
  if (journal.v === 3) return (path, content) => journal.safety.some(({ held }) => held?.[path] === content);
  const known = await idsInSafety(workspace, journal);
  return (path, content) =>
    journal.safety.some(({ held }) => held?.[path] === content) || known.get(path)?.has(content) === true;
}

/** Journals of earlier versions record only the trees, so content that git converts does not count as held. */
async function idsInSafety(workspace: Workspace, journal: Journal): Promise<Map<string, Set<string>>> {
  using objects = new ObjectStore(workspace);
  const found = new Map<string, Set<string>>();
  for (const path of [...journal.files.delete, ...journal.files.write.map((write) => write.path)]) {
    const ids = new Set<string>();
    for (const { work, raw } of journal.safety) {
      const entry = (await entryAt(objects.trees, raw, path)) ?? (await entryAt(objects.trees, work, path));
      if (entry) ids.add(entry.mode === SYMLINK_MODE ? `link ${entry.id}` : entry.id);
    }
    found.set(path, ids);
  }
  return found;
}

/** Keeps a file under its own path if that is free. The directory belongs to this restore alone. */
function keep(workspace: Workspace, id: string, path: string, aside: string): KeptFile {
  const directory = keptDirectory(workspace, id);
  let name = path;
  try {
    mkdirSync(onDisk(directory, parentOf(path)), { recursive: true, mode: 0o700 });
  } catch (error) {
    if (!["ENOTDIR", "EEXIST"].includes(codeOf(error) ?? "")) throw error;
    // A kept file occupies the path of a parent directory.
    name = path.replaceAll("/", "%");
  }
  let target = name;
  for (let i = 1; safeStat(onDisk(directory, target)); i++) target = `${name}.${i}`;
  renameSync(aside, onDisk(directory, target));
  return { path, place: `${directory}/${target}` };
}
