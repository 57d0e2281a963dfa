/**
 * Merges two checkpoint trees into one that contains everything from both. An entry that only one side has is taken
 * unread; a checkpoint that both sides have is merged session by session. The result does not depend on which side is
 * ours, so that two machines that merge the same trees get the same result.
 */
import type { ObjectStore } from "../../git/objects/object-store.ts";
import { FILE_MODE, TREE_MODE, type Tree, type TreeEntry } from "../../git/objects/trees.ts";
import { LINKS_FILE, METADATA_FILE } from "../format/layout.ts";
import { joinLinks, linksJson, parseLinks } from "../links/squashed-links.ts";
import { blobOf } from "../write/write.ts";
import { holdsAtLeast, isSessionName, mergeSessions } from "./merge-sessions.ts";

const MAX_DEPTH = 16;
/** No real checkpoint has this many sessions; without a limit, a remote could stall the merge. */
const MAX_SESSIONS = 1_000;

/** Root trees; null is the empty tree. `base` is the common ancestor, if known. */
export interface Sides {
  ours: string | null;
  theirs: string | null;
  base: string | null;
}

export async function mergeCheckpointTrees(objects: ObjectStore, { ours, theirs, base }: Sides): Promise<string> {
  const root = await unite(objects, ours, theirs, base, 0, "");
  return root ?? objects.trees.write(new Map());
}

/** Returns the checkpoints that differ between two root trees. */
export async function differing({ trees }: ObjectStore, a: string | null, b: string | null): Promise<string[]> {
  const found: string[] = [];
  const [left, right] = [await trees.read(a), await trees.read(b)];
  for (const shard of new Set([...left.keys(), ...right.keys()])) {
    const [one, other] = [left.get(shard), right.get(shard)];
    if (!/^[0-9a-f]{2}$/.test(shard) || one?.id === other?.id) continue;
    const [ids, others] = [await trees.read(treeId(one)), await trees.read(treeId(other))];
    for (const rest of new Set([...ids.keys(), ...others.keys()]))
      if (/^[0-9a-f]{10}$/.test(rest) && ids.get(rest)?.id !== others.get(rest)?.id) found.push(shard + rest);
  }
  return found;
}

async function unite(
  objects: ObjectStore,
  ours: string | null,
  theirs: string | null,
  base: string | null,
  depth: number,
  path: string,
): Promise<string | null> {
  if (ours === theirs || theirs === null) return ours;
  if (ours === null) return theirs;
  if (depth > MAX_DEPTH) return ours < theirs ? ours : theirs;
  const { trees } = objects;
  const [left, right, before] = [await trees.read(ours), await trees.read(theirs), await trees.read(base)];
  if (/^[0-9a-f]{2}\/[0-9a-f]{10}$/.test(path)) {
    if (base === theirs || countSessions(right) > MAX_SESSIONS) return ours;
    // Someone may have pushed our checkpoint with less content.
    if (base === ours && (await holdsAtLeast(objects, right, left))) return theirs;
    return uniteCheckpoint(objects, ours, theirs, left, right, path.replace("/", ""));
  }
  const united: Tree = new Map(left);
  for (const [name, entry] of right) {
    const own = left.get(name);
    if (!own && !isSafeName(name)) continue;
    const one = own
      ? await uniteEntries(objects, own, entry, before.get(name), depth + 1, path === "" ? name : `${path}/${name}`)
      : entry;
    united.set(name, one);
  }
  return sameEntries(united, right) ? theirs : sameEntries(united, left) ? ours : trees.write(united);
}

async function uniteEntries(
  objects: ObjectStore,
  own: TreeEntry,
  other: TreeEntry,
  before: TreeEntry | undefined,
  depth: number,
  path: string,
): Promise<TreeEntry> {
  if (own.id === other.id) return own;
  if (own.mode === TREE_MODE && other.mode === TREE_MODE) {
    const id = await unite(objects, own.id, other.id, treeId(before), depth, path);
    return { mode: TREE_MODE, id: id ?? own.id };
  }
  if (before?.id === other.id) return own;
  if (before?.id === own.id) return other;
  if ((own.mode === TREE_MODE) !== (other.mode === TREE_MODE)) return own.mode === TREE_MODE ? own : other;
  return larger(objects, own, other);
}

/** Picks the larger of two files that cannot be merged. The other one stays in the history. */
async function larger({ reader }: ObjectStore, a: TreeEntry, b: TreeEntry): Promise<TreeEntry> {
  const [one, other] = [await reader.read(a.id), await reader.read(b.id)];
  const more = (one?.data.length ?? 0) - (other?.data.length ?? 0);
  if (more !== 0) return more > 0 ? a : b;
  return a.id < b.id ? a : b;
}

async function uniteCheckpoint(
  objects: ObjectStore,
  ours: string,
  theirs: string,
  left: Tree,
  right: Tree,
  id: string,
): Promise<string> {
  const { sessions, summary } = await mergeSessions(objects, left, right, id);
  const united: Tree = new Map(sessions);
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    if (name === METADATA_FILE || isSessionName(name)) continue;
    const [own, other] = [left.get(name), right.get(name)];
    if (name === LINKS_FILE && own && other) {
      united.set(name, await uniteLinks(objects, own, other));
      continue;
    }
    const one = own && other ? await uniteEntries(objects, own, other, undefined, 3, `/${name}`) : (own ?? other);
    if (one) united.set(name, one);
  }
  // A side that already has everything keeps its own metadata.
  for (const [side, tree] of [
    [ours, left],
    [theirs, right],
  ] as const) {
    const metadata = tree.get(METADATA_FILE);
    if (metadata && sameEntries(new Map([...united, [METADATA_FILE, metadata]]), tree)) return side;
  }
  united.set(METADATA_FILE, { mode: FILE_MODE, id: objects.writer.add("blob", Buffer.from(summary)) });
  return objects.trees.write(united);
}

/** A tree from the user's own `git fetch` has not been checked. */
function isSafeName(name: string): boolean {
  return !/^$|^\.{1,2}$|^\.git$|\//i.test(name);
}

async function uniteLinks({ reader, writer }: ObjectStore, a: TreeEntry, b: TreeEntry): Promise<TreeEntry> {
  if (a.id === b.id) return a;
  const links = async (entry: TreeEntry) => parseLinks((await blobOf(reader, entry)) ?? new Uint8Array());
  const text = linksJson(joinLinks(await links(a), await links(b)));
  return { mode: FILE_MODE, id: writer.add("blob", Buffer.from(text)) };
}

function countSessions(checkpoint: Tree): number {
  return [...checkpoint.keys()].filter(isSessionName).length;
}

function treeId(entry: TreeEntry | undefined): string | null {
  return entry?.mode === TREE_MODE ? entry.id : null;
}

function sameEntries(a: Tree, b: Tree): boolean {
  if (a.size !== b.size) return false;
  for (const [name, { mode, id }] of a) {
    const other = b.get(name);
    if (other?.id !== id || other.mode !== mode) return false;
  }
  return true;
}
