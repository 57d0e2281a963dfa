/**
 * Compares the bytes in a directory with trees that hold them. Reads every file instead of trusting times, sizes or
 * git's index, so it also finds changes that git hides (skip-worktree, assume-unchanged, a watcher that missed one).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onDisk } from "../../base/fs/path-bytes.ts";
import { logError } from "../../base/log.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import { GITLINK_MODE, SYMLINK_MODE, TREE_MODE, type TreeEntry, TreeStore } from "../../git/objects/trees.ts";
import { ObjectWriter } from "../../git/objects/writer.ts";
import type { Workspace } from "../../git/workspace.ts";
import { contentId } from "../apply/content.ts";
import { stage } from "../apply/stage.ts";
import type { PlannedWrite } from "../types.ts";
import { type Walked, type WalkedFile, walk } from "./walk.ts";

/** Trees that hold files: as git stores them, and the exact bytes if those differ. */
export interface HoldingTrees {
  work: string | null;
  raw: string | null;
}

export interface Contents extends Omit<Walked, "files"> {
  /** Files that the trees hold, with their content ids. */
  held: Map<string, string>;
  /** Files that the trees do not hold. */
  unheld: UnheldFile[];
  read: ReadFiles;
}

/** By path: the content id and the file's mark when it was read. */
export type ReadFiles = ReadonlyMap<string, { mark: string; id: string | undefined }>;

export interface UnheldFile extends WalkedFile {
  /** True if the trees have any file at this path. */
  known: boolean;
}

/**
 * `repository` has the objects of `trees`; `root` is the directory to compare. Bytes also count as held if git would
 * produce them with the user's filters. Files in `before` with an unchanged mark are not read again, which is safe for
 * a plan but never for a decision to delete.
 */
export async function compareContents(
  repository: Workspace,
  root: string,
  trees: HoldingTrees,
  skip: ReadonlySet<string>,
  before: ReadFiles = new Map(),
): Promise<Contents> {
  const { files, ...rest } = walk(root, skip);
  const reader = new ObjectReader(repository);
  const store = new TreeStore(reader, new ObjectWriter(repository));
  try {
    const work = await entriesOf(store, trees.work);
    const raw = await entriesOf(store, trees.raw);
    const held = new Map<string, string>();
    const others: (UnheldFile & { id: string | undefined })[] = [];
    const read = new Map<string, { mark: string; id: string | undefined }>();
    for (const file of files) {
      const known = before.get(file.path);
      const id = known?.mark === file.mark ? known.id : contentId(onDisk(root, file.path), repository.hash);
      read.set(file.path, { mark: file.mark, id });
      const exact = raw.get(file.path) ?? work.get(file.path);
      if (id !== undefined && exact && id === contentIdOf(exact)) held.set(file.path, id);
      else others.push({ ...file, id, known: work.has(file.path) });
    }
    const converted = others.flatMap(({ path }): PlannedWrite[] => {
      const entry = work.get(path);
      return entry && !raw.has(path) ? [{ path, entry, raw: null }] : [];
    });
    const written = await idsAsWritten(repository, { trees: store, reader }, trees.work, converted);
    const unheld = others.filter(({ path, id }) => {
      if (id === undefined || written.get(path) !== id) return true;
      held.set(path, id);
      return false;
    });
    return { ...rest, held, unheld, read };
  } finally {
    reader.close();
  }
}

async function entriesOf(store: TreeStore, tree: string | null): Promise<Map<string, TreeEntry>> {
  const entries = new Map<string, TreeEntry>();
  for (const { path, after } of await compareTrees(store, null, tree))
    if (after && after.mode !== TREE_MODE && after.mode !== GITLINK_MODE) entries.set(path, after);
  return entries;
}

/** The entry's `contentId`. */
export function contentIdOf({ mode, id }: TreeEntry): string {
  return mode === SYMLINK_MODE ? `link ${id}` : id;
}

/** Content ids of what git would check out for these files; empty if git fails. */
async function idsAsWritten(
  repository: Workspace,
  objects: { trees: TreeStore; reader: ObjectReader },
  tree: string | null,
  files: readonly PlannedWrite[],
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  if (files.length === 0 || tree === null) return ids;
  const place = mkdtempSync(join(tmpdir(), "backtrail-compare-"));
  try {
    const directory = join(place, "files");
    await stage(repository, objects, tree, files, directory);
    for (const { path } of files) {
      const id = contentId(onDisk(directory, path), repository.hash);
      if (id !== undefined) ids.set(path, id);
    }
  } catch (error) {
    // These files then count as not held.
    logError("comparing files that git converts", error);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
  return ids;
}
