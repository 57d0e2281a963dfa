/** Tree objects: parsed, written, changed at a few paths without touching the rest, and compared. */
import { decodePath, encodePath } from "../base/path-bytes.ts";
import type { ObjectWriter } from "./objects.ts";
import type { ObjectReader } from "./reader.ts";

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

/** What happens at a path: an entry to put there, or null to remove it. */
export type TreeChanges = ReadonlyMap<string, TreeEntry | null>;

export function parseTree(data: Buffer, hash: "sha1" | "sha256"): Tree {
  const idLength = hash === "sha1" ? 20 : 32;
  const tree: Tree = new Map();
  // Both at once: a part of a string costs far less than a part of a buffer that is made one.
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

export function serialiseTree(tree: Tree): Buffer {
  return serialisePlain(tree) ?? serialiseAny(tree);
}

/** Names of ASCII alone, which are their own bytes: undefined where there are others. */
function serialisePlain(tree: Tree): Buffer | undefined {
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

function serialiseAny(tree: Tree): Buffer {
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
  readonly #known = new Map<string, Tree>();

  constructor(reader: ObjectReader, writer: ObjectWriter) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /** `id` null is the empty tree. The result must not be changed. */
  async read(id: string | null): Promise<Tree> {
    if (id === null) return new Map();
    const known = this.#known.get(id);
    if (known) return known;
    const tree = parseTree(await this.#reader.require(id, "tree"), this.#writer.hash);
    this.#known.set(id, tree);
    return tree;
  }

  write(tree: Tree): string {
    const id = this.#writer.add("tree", serialiseTree(tree));
    this.#known.set(id, tree);
    return id;
  }

  /** The tree `base` with `changes` made: only directories on the way to a change are read and written. */
  async apply(base: string | null, changes: TreeChanges): Promise<string> {
    if (changes.size === 0 && base !== null) return base;
    const tree = await this.#change(base, byDirectory(changes));
    return this.write(tree ?? new Map());
  }

  async #change(base: string | null, node: Node): Promise<Tree | undefined> {
    const tree: Tree = new Map(await this.read(base));
    for (const [name, entry] of node.entries) {
      if (entry === null) tree.delete(name);
      else tree.set(name, entry);
    }
    // Independent directories are asked for together: each answer is a round trip.
    await Promise.all(
      [...node.directories].map(async ([name, child]) => {
        const before = tree.get(name);
        const below = await this.#change(before?.mode === TREE_MODE ? before.id : null, child);
        if (below) tree.set(name, { mode: TREE_MODE, id: this.write(below) });
        // An emptied directory goes; a file or link that a removal below its name finds there stays.
        else if (before?.mode === TREE_MODE) tree.delete(name);
      }),
    );
    return tree.size > 0 ? tree : undefined;
  }
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
