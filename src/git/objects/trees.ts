/** Parses, writes, changes and compares tree objects; a change rewrites only the affected directories. */
import { decodePath, encodePath } from "../../base/fs/path-bytes.ts";
import { type EntryDifference, WIDE_BYTES, WideTree } from "../wide/tree-bytes.ts";
import type { ObjectReader } from "./reader.ts";
import type { ObjectWriter } from "./writer.ts";

export interface TreeEntry {
  mode: string;
  id: string;
}

/** A directory's entries by name. */
export type Tree = Map<string, TreeEntry>;

export const TREE_MODE = "40000";
export const GITLINK_MODE = "160000";
export const SYMLINK_MODE = "120000";
export const EXECUTABLE_MODE = "100755";
export const FILE_MODE = "100644";

/** Changes by path: an entry to write, or null to remove the path. */
export type TreeChanges = ReadonlyMap<string, TreeEntry | null>;

export function parseTree(data: Buffer, hash: "sha1" | "sha256"): Tree {
  const idLength = hash === "sha1" ? 20 : 32;
  const tree: Tree = new Map();
  // Convert the whole buffer once: slicing a string is far cheaper than converting many slices.
  const text = data.toString("latin1");
  const hex = data.toString("hex");
  for (let i = 0; i < text.length; ) {
    const space = text.indexOf(" ", i);
    const nul = text.indexOf("\0", space);
    if (space === -1 || nul === -1 || nul + idLength >= text.length) throw new Error("A tree object is damaged.");
    const id = hex.slice(2 * (nul + 1), 2 * (nul + 1 + idLength));
    const name = text.slice(space + 1, nul);
    tree.set(PLAIN_NAME.test(name) ? name : decodePath(data.subarray(space + 1, nul)), {
      mode: text.slice(i, space),
      id,
    });
    i = nul + 1 + idLength;
  }
  return tree;
}

export function serializeTree(tree: Tree): Buffer {
  return serializePlain(tree) ?? serializeAny(tree);
}

/** Fast path for ASCII names; undefined if the tree has others. */
function serializePlain(tree: Tree): Buffer | undefined {
  const rows: { key: string; name: string; entry: TreeEntry }[] = [];
  let size = 0;
  let sorted = true;
  for (const [name, entry] of tree) {
    if (!PLAIN_NAME.test(name)) return undefined;
    const key = entry.mode === TREE_MODE ? `${name}/` : name;
    sorted &&= rows.length === 0 || (rows.at(-1)?.key ?? "") < key;
    rows.push({ key, name, entry });
    size += entry.mode.length + name.length + 2 + entry.id.length / 2;
  }
  if (!sorted) rows.sort((a, b) => (a.key < b.key ? -1 : 1));
  const data = Buffer.alloc(size);
  let at = 0;
  for (const { name, entry } of rows) {
    at += data.write(`${entry.mode} ${name}\0`, at, "latin1");
    at += data.write(entry.id, at, "hex");
  }
  return data;
}

const PLAIN_NAME = /^[\x20-\x7e]*$/;

function serializeAny(tree: Tree): Buffer {
  // git orders directories as if their names ended in a slash.
  const entries = [...tree].map(([name, entry]) => {
    const bytes = encodePath(name);
    return { bytes, key: entry.mode === TREE_MODE ? Buffer.concat([bytes, Buffer.from("/")]) : bytes, entry };
  });
  entries.sort((a, b) => Buffer.compare(a.key, b.key));
  const parts: Buffer[] = [];
  for (const { bytes, entry } of entries)
    parts.push(Buffer.from(`${entry.mode} `), bytes, NUL, Buffer.from(entry.id, "hex"));
  return Buffer.concat(parts);
}

const NUL = Buffer.from([0]);

export class TreeStore {
  readonly #reader: ObjectReader;
  readonly #writer: ObjectWriter;
  readonly #known: Map<string, Tree>;
  readonly #wide: Map<string, WideTree>;

  constructor(
    reader: ObjectReader,
    writer: ObjectWriter,
    known = new Map<string, Tree>(),
    wide = new Map<string, WideTree>(),
  ) {
    this.#reader = reader;
    this.#writer = writer;
    this.#known = known;
    this.#wide = wide;
  }

  /** Returns a store that shares the known trees but writes to `writer`. */
  writingTo(writer: ObjectWriter): TreeStore {
    return new TreeStore(this.#reader, writer, this.#known, this.#wide);
  }

  /** A null `id` is the empty tree. Callers must not change the result. */
  async read(id: string | null): Promise<Tree> {
    if (id === null) return new Map();
    const known = this.#known.get(id);
    if (known) return known;
    const found = await this.#load(id);
    if (!(found instanceof WideTree)) return found;
    const tree = parseTree(found.data, this.#writer.hash);
    this.#known.set(id, tree);
    return tree;
  }

  async entry(id: string | null, name: string): Promise<TreeEntry | null> {
    return (await this.#load(id)).get(name) ?? null;
  }

  /** The entries that differ between two trees. */
  async differences(before: string | null, after: string | null): Promise<EntryDifference[]> {
    const [one, other] = await Promise.all([this.#load(before), this.#load(after)]);
    if (one instanceof WideTree && other instanceof WideTree) return one.differencesTo(other);
    const [from, to] = await Promise.all([this.read(before), this.read(after)]);
    const found: EntryDifference[] = [];
    for (const name of new Set([...from.keys(), ...to.keys()])) {
      const [a, b] = [from.get(name) ?? null, to.get(name) ?? null];
      if (a?.id !== b?.id || a?.mode !== b?.mode) found.push({ name, before: a, after: b });
    }
    return found;
  }

  /** Keeps a large tree unparsed, since callers need few of its entries. */
  async #load(id: string | null): Promise<Tree | WideTree> {
    if (id === null) return new Map();
    const known = this.#wide.get(id) ?? this.#known.get(id);
    if (known) return known;
    const data = await this.#reader.require(id, "tree");
    if (data.length >= WIDE_BYTES) {
      const wide = new WideTree(data, this.#writer.hash);
      this.#wide.set(id, wide);
      return wide;
    }
    const tree = parseTree(data, this.#writer.hash);
    this.#known.set(id, tree);
    return tree;
  }

  write(tree: Tree): string {
    const id = this.#writer.add("tree", serializeTree(tree));
    this.#known.set(id, tree);
    return id;
  }

  /** Returns the tree `base` with `changes` applied. Reads and writes only the directories above a change. */
  async apply(base: string | null, changes: TreeChanges): Promise<string> {
    if (changes.size === 0 && base !== null) return base;
    return (await this.#change(base, byDirectory(changes))) ?? this.write(new Map());
  }

  /** Writes the changed tree; undefined if it becomes empty. */
  async #change(base: string | null, node: Node): Promise<string | undefined> {
    const before = await this.#load(base);
    const entries = new Map(node.entries);
    // Request independent directories in parallel, since each one is a round trip.
    await Promise.all(
      [...node.directories].map(async ([name, child]) => {
        const had = entries.has(name) ? entries.get(name) : before.get(name);
        const below = await this.#change(had?.mode === TREE_MODE ? had.id : null, child);
        if (below !== undefined) entries.set(name, { mode: TREE_MODE, id: below });
        // Remove an emptied directory, but keep a file or link that has the directory's name.
        else if (had?.mode === TREE_MODE) entries.set(name, null);
      }),
    );
    if (before instanceof WideTree) return this.#writeWide(before.with(entries));
    const tree: Tree = new Map(before);
    for (const [name, entry] of entries) {
      if (entry === null) tree.delete(name);
      else tree.set(name, entry);
    }
    return tree.size > 0 ? this.write(tree) : undefined;
  }

  #writeWide(data: Buffer): string | undefined {
    if (data.length === 0) return undefined;
    const id = this.#writer.add("tree", data);
    this.#wide.set(id, new WideTree(data, this.#writer.hash));
    return id;
  }
}

/** The entry at a path, or null. */
export async function entryAt(trees: TreeStore, root: string | null, path: string): Promise<TreeEntry | null> {
  let id = root;
  const parts = path.split("/");
  for (const [i, part] of parts.entries()) {
    const entry = await trees.entry(id, part);
    if (!entry) return null;
    if (i === parts.length - 1) return entry;
    if (entry.mode !== TREE_MODE) return null;
    id = entry.id;
  }
  return null;
}

interface Node {
  entries: Map<string, TreeEntry | null>;
  directories: Map<string, Node>;
}

function byDirectory(changes: TreeChanges): Node {
  const root: Node = { entries: new Map(), directories: new Map() };
  for (const [path, entry] of changes) {
    let node = root;
    const parts = path.split("/");
    const name = parts.pop() ?? "";
    for (const part of parts) {
      let next = node.directories.get(part);
      if (!next) {
        next = { entries: new Map(), directories: new Map() };
        node.directories.set(part, next);
      }
      node = next;
    }
    node.entries.set(name, entry);
  }
  return root;
}
