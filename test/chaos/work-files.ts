/**
 * The ways in which anybody changes files. Each writes its line into the script, and notes what it wrote and what it took away, so
 * that the oracle knows whose doing it was. What the file system refuses has not happened.
 */
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { blobId } from "./content.ts";
import type { Script } from "./script.ts";

interface Mapping {
  bytes: Uint8Array;
  inode: number;
  number: number;
}

export class WorkFiles {
  readonly root: string;
  readonly script: Script;
  /** What was written or staged, and what was overwritten or removed, since somebody last asked. */
  readonly written = new Set<string>();
  readonly removed = new Set<string>();
  /** Paths below the root that were changed since somebody last asked. */
  readonly touched = new Set<string>();
  /** Somebody did something since the last census. */
  isChanged = true;
  /** Mappings of files into memory, by path, with the file that was mapped. */
  readonly mappings = new Map<string, Mapping>();
  #mapped = 0;

  constructor(root: string, script: Script) {
    this.root = root;
    this.script = script;
  }

  /** A line of the script, for something that has changed the world. */
  did(line: string): void {
    this.isChanged = true;
    this.script.add(line);
  }

  /** Saves a file in place, by truncating it, as many editors do. */
  write(path: string, content: string | Uint8Array): void {
    if (entryAt(path)?.isSymbolicLink()) this.remove(path);
    if (!this.#makeRoom(path)) return;
    const line = `mkdir -p ${this.#q(dirname(path))}; ${this.printf(content)} >${this.#q(path)}`;
    this.#touchNames(path);
    this.#save(path, content, line, () => writeFileSync(path, content));
  }

  /** Saves a file under another name and renames it over the old one. */
  replace(path: string, content: string | Uint8Array): void {
    if (!this.#makeRoom(path)) return;
    const name = this.#q(path);
    const line = `mkdir -p ${this.#q(dirname(path))}; ${this.printf(content)} >${name}.new~; mv -T ${name}.new~ ${name}`;
    this.#save(path, content, line, () => {
      writeFileSync(`${path}.new~`, content);
      try {
        renameSync(`${path}.new~`, path);
      } catch (error) {
        rmSync(`${path}.new~`, { force: true });
        throw error;
      }
    });
  }

  /** Other bytes of the same length under the same times, as tools that preserve times leave them. */
  rewriteKeepingTimes(path: string, content: string): void {
    const { atime, mtime } = lstatSync(path);
    const name = this.#q(path);
    const line = `touch -r ${name} "$T/times"; ${this.printf(content)} >${name}; touch -r "$T/times" ${name}`;
    this.#touchNames(path);
    this.#save(path, content, line, () => {
      writeFileSync(path, content);
      utimesSync(path, atime, mtime);
    });
  }

  /** Writes into a file that stays mapped into memory. */
  writeMapped(path: string, text: string): void {
    try {
      const { bytes, number } = this.#mapping(path);
      this.#touchNames(path);
      this.#leave(path);
      bytes.set(new TextEncoder().encode(text).subarray(0, bytes.length));
      this.written.add(blobId(bytes));
      this.did(`map_write ${number} ${text}`);
    } catch {
      // It is protected.
    }
  }

  remove(path: string): void {
    this.#change(path, `rm -rf ${this.#q(path)}`, () => rmSync(path, { recursive: true, force: true }));
  }

  move(from: string, to: string): void {
    if (!this.#makeRoom(to)) return;
    this.touched.add(relative(this.root, from));
    const line = `mkdir -p ${this.#q(dirname(to))}; mv -T ${this.#q(from)} ${this.#q(to)}`;
    this.#change(to, line, () => renameSync(from, to));
  }

  link(path: string, target: string): void {
    if (entryAt(path)) this.remove(path);
    if (!this.#makeRoom(path)) return;
    const line = `mkdir -p ${this.#q(dirname(path))}; ln -s ${this.#q(target)} ${this.#q(path)}`;
    this.#save(path, target, line, () => symlinkSync(target, path));
  }

  hardLink(path: string, other: string): void {
    if (entryAt(other)) this.remove(other);
    if (!this.#makeRoom(other)) return;
    const line = `mkdir -p ${this.#q(dirname(other))}; ln ${this.#q(path)} ${this.#q(other)}`;
    this.#change(other, line, () => linkSync(path, other));
  }

  append(path: string, content: string): void {
    this.touched.add(relative(this.root, path));
    this.#touchNames(path);
    appendFileSync(path, content);
    this.did(`${this.printf(content)} >>${this.#q(path)}`);
  }

  makeDirectory(path: string): void {
    mkdirSync(path, { recursive: true });
    this.did(`mkdir -p ${this.#q(path)}`);
  }

  chmod(path: string, mode: number): void {
    this.touched.add(relative(this.root, path));
    try {
      chmodSync(path, mode);
      this.did(`chmod ${mode.toString(8)} ${this.#q(path)}`);
    } catch {
      // It is protected.
    }
  }

  /** Notes that git has been given a content to stage, which nothing else has. */
  staged(content: string): void {
    this.written.add(content);
  }

  wait(ms: number): void {
    Bun.sleepSync(ms);
    this.did(`sleep ${ms / 1000}`);
  }

  /** The words of a shell that print a content. */
  printf(content: string | Uint8Array): string {
    const text = typeof content === "string" ? content : new TextDecoder("latin1").decode(content);
    if (/^[\x20-\x7e\n]*$/.test(text)) return `printf %s ${this.script.quote(text)}`;
    return `printf %s ${Buffer.from(content).toString("base64")} | base64 -d`;
  }

  #mapping(path: string): Mapping {
    const { ino: inode, size } = lstatSync(path);
    const known = this.mappings.get(path);
    // Somebody may have put another file in its place, or made it shorter: what is mapped beyond its end can't be touched.
    if (known?.inode === inode && size >= known.bytes.length) return known;
    const mapping = { bytes: Bun.mmap(path, { shared: true }), inode, number: this.#mapped + 1 };
    this.#mapped += 1;
    this.mappings.set(path, mapping);
    this.did(`map_open ${mapping.number} ${this.#q(path)}`);
    return mapping;
  }

  #save(path: string, content: string | Uint8Array, line: string, save: () => void): void {
    if (this.#change(path, line, save)) this.written.add(blobId(content));
  }

  #change(path: string, line: string, change: () => void): boolean {
    this.#leave(path);
    try {
      change();
      this.did(line);
      return true;
    } catch {
      this.isChanged = true;
      return false;
    }
  }

  /** Notes the other names of a file that is about to be written in place: what is written is there, too. */
  #touchNames(path: string): void {
    const file = entryAt(path);
    if (!file?.isFile() || file.nlink === 1) return;
    const look = (directory: string): void => {
      for (const name of namesIn(directory)) {
        const entry = entryAt(join(directory, name));
        if (entry?.isDirectory()) look(join(directory, name));
        else if (entry?.ino === file.ino) this.touched.add(relative(this.root, join(directory, name)));
      }
    };
    look(this.root);
  }

  /** Notes what lies at a path, which is about to be changed. */
  #leave(path: string): void {
    this.touched.add(relative(this.root, path));
    this.touched.add(relative(this.root, behindLinks(path)));
    const entry = entryAt(path);
    if (!entry) return;
    if (entry.isDirectory()) for (const name of namesIn(path)) this.#leave(join(path, name));
    else if (entry.isSymbolicLink()) this.removed.add(blobId(readlinkSync(path)));
    else if (entry.isFile()) this.removed.add(blobId(readFileSync(path)));
  }

  /** A path as the script writes it. */
  #q(path: string): string {
    return this.script.quote(path);
  }

  /** Makes the directories above a path; false if something else stands in the way. */
  #makeRoom(path: string): boolean {
    try {
      mkdirSync(dirname(path), { recursive: true });
      return !(entryAt(path)?.isDirectory() ?? false);
    } catch {
      return false;
    }
  }
}

/** What lies at a path; nothing where a file stands in place of a directory above it. */
export function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The path without links above it. */
function behindLinks(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
