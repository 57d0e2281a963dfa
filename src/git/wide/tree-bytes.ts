/**
 * Changes and compares the trees of very large directories as bytes. Parsing and serializing ten thousand entries takes
 * a hook longer than all its other work.
 */
import { decodePath, encodePath } from "../../base/fs/path-bytes.ts";
import type { TreeEntry } from "../objects/trees.ts";

/** From this size on, a tree is handled as bytes. */
export const WIDE_BYTES = 32 << 10;

const SPACE = 0x20;
/** The first digit of a directory's mode; no other mode starts with it. */
const DIRECTORY = 0x34;
const SLASH = Buffer.from("/");
/** Entries that are compared at once; a power of two. */
const MAX_COMPARED = 512;

/** An entry's name as git sorts it: with a trailing slash for a directory. */
type Key = Buffer;

export interface EntryDifference {
  name: string;
  before: TreeEntry | null;
  after: TreeEntry | null;
}

export class WideTree {
  readonly data: Buffer;
  readonly #idLength: number;
  #offsets: Uint32Array | undefined;

  constructor(data: Buffer, hash: "sha1" | "sha256") {
    this.data = data;
    this.#idLength = hash === "sha1" ? 20 : 32;
  }

  /** Offset of each entry, followed by the offset of the end. Built at first use, since most new trees are only written. */
  get #starts(): Uint32Array {
    this.#offsets ??= offsetsIn(this.data, this.#idLength);
    return this.#offsets;
  }

  get #count(): number {
    return this.#starts.length - 1;
  }

  get(name: string): TreeEntry | null {
    const at = this.#indexOf(name);
    return at === -1 ? null : this.#entryAt(at);
  }

  /** Returns the tree with these entries replaced or added; null removes one. */
  with(changes: ReadonlyMap<string, TreeEntry | null>): Buffer {
    const edits: { from: number; to: number; key: Key; bytes: Buffer }[] = [];
    for (const [name, entry] of changes) {
      const at = this.#indexOf(name);
      if (at !== -1) edits.push({ from: at, to: at + 1, key: this.#keyAt(at), bytes: NOTHING });
      if (!entry) continue;
      const key = keyOf(name, entry);
      const place = this.#lowerBound(key);
      edits.push({ from: place, to: place, key, bytes: serialized(name, entry) });
    }
    // At the same offset, an insertion before a removed entry has the smaller key.
    edits.sort((a, b) => a.from - b.from || Buffer.compare(a.key, b.key) || a.to - b.to);
    const parts: Buffer[] = [];
    let done = 0;
    for (const { from, to, bytes } of edits) {
      if (from > done) parts.push(this.#bytesBetween(done, from));
      parts.push(bytes);
      done = Math.max(done, to);
    }
    parts.push(this.#bytesBetween(done, this.#count));
    return Buffer.concat(parts);
  }

  differencesTo(other: WideTree): EntryDifference[] {
    const found = new Map<string, EntryDifference>();
    const note = (side: "before" | "after", tree: WideTree, at: number) => {
      const name = tree.#nameAt(at);
      const known = found.get(name) ?? { name, before: null, after: null };
      found.set(name, { ...known, [side]: tree.#entryAt(at) });
    };
    let [i, j] = [0, 0];
    for (;;) {
      const same = this.#sameFrom(i, other, j);
      i += same;
      j += same;
      if (i === this.#count && j === other.#count) break;
      const order = i === this.#count ? 1 : j === other.#count ? -1 : Buffer.compare(this.#keyAt(i), other.#keyAt(j));
      if (order <= 0) note("before", this, i++);
      if (order >= 0) note("after", other, j++);
    }
    return [...found.values()];
  }

  #startOf(at: number): number {
    return this.#starts[at] ?? this.data.length;
  }

  #bytesBetween(from: number, to: number): Buffer {
    return this.data.subarray(this.#startOf(from), this.#startOf(to));
  }

  /** How many entries are the same from here on. Compares many at a time, since most of them are. */
  #sameFrom(at: number, other: WideTree, otherAt: number): number {
    let same = 0;
    for (let step = MAX_COMPARED; step > 0; ) {
      if (this.#isSame(at + same, other, otherAt + same, step)) same += step;
      else step >>>= 1;
    }
    return same;
  }

  #isSame(at: number, other: WideTree, otherAt: number, count: number): boolean {
    if (at + count > this.#count || otherAt + count > other.#count) return false;
    const [start, end] = [this.#startOf(at), this.#startOf(at + count)];
    const [otherStart, otherEnd] = [other.#startOf(otherAt), other.#startOf(otherAt + count)];
    if (end - start !== otherEnd - otherStart) return false;
    return other.data.compare(this.data, start, end, otherStart, otherEnd) === 0;
  }

  #indexOf(name: string): number {
    const plain = encodePath(name);
    for (const key of [plain, Buffer.concat([plain, SLASH])]) {
      const at = this.#lowerBound(key);
      if (at < this.#count && this.#keyAt(at).equals(key)) return at;
    }
    return -1;
  }

  /** The first entry with a key that is not smaller. */
  #lowerBound(key: Key): number {
    let [low, high] = [0, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(this.#keyAt(middle), key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #keyAt(at: number): Key {
    const name = this.#nameBytes(at);
    return this.data[this.#startOf(at)] === DIRECTORY ? Buffer.concat([name, SLASH]) : name;
  }

  #nameBytes(at: number): Buffer {
    const space = this.data.indexOf(SPACE, this.#startOf(at));
    return this.data.subarray(space + 1, this.#startOf(at + 1) - this.#idLength - 1);
  }

  #nameAt(at: number): string {
    return decodePath(this.#nameBytes(at));
  }

  #modeAt(at: number): string {
    const start = this.#startOf(at);
    return this.data.toString("latin1", start, this.data.indexOf(SPACE, start));
  }

  #entryAt(at: number): TreeEntry {
    const end = this.#startOf(at + 1);
    return { mode: this.#modeAt(at), id: this.data.toString("hex", end - this.#idLength, end) };
  }
}

const NOTHING = Buffer.alloc(0);

function offsetsIn(data: Buffer, idLength: number): Uint32Array {
  // Search in a plain view: a Buffer's own `indexOf` takes twice as long.
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.length);
  // The shortest entry has a five-digit mode, a space, a one-byte name and a NUL.
  const starts = new Uint32Array(Math.floor(data.length / (8 + idLength)) + 2);
  let count = 0;
  for (let at = 0; at < bytes.length; count++) {
    starts[count] = at;
    const nul = bytes.indexOf(0, at);
    at = nul + 1 + idLength;
    if (nul === -1 || at > bytes.length) throw new Error("A tree object is damaged.");
  }
  starts[count] = data.length;
  return starts.subarray(0, count + 1);
}

function keyOf(name: string, { mode }: TreeEntry): Key {
  const bytes = encodePath(name);
  return mode.charCodeAt(0) === DIRECTORY ? Buffer.concat([bytes, SLASH]) : bytes;
}

function serialized(name: string, { mode, id }: TreeEntry): Buffer {
  return Buffer.concat([Buffer.from(`${mode} `), encodePath(name), Buffer.from([0]), Buffer.from(id, "hex")]);
}
