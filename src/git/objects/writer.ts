/**
 * Writes git objects without starting git: a few as loose files, many as one pack, in git's own formats. Objects stay
 * invisible until a ref points to them, so a kill leaves only unused objects.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { codeOf } from "../../base/errors.ts";
import { writeAll } from "../../base/fs/files.ts";
import { WIDE_BYTES } from "../wide/tree-bytes.ts";
import type { Workspace } from "../workspace.ts";
import { compressed, type ObjectType, type PendingObject } from "./object.ts";
import { packObjects } from "./pack.ts";

/** Above this count, one pack is cheaper to write, and for git to read later, than loose files. */
const LOOSE_LIMIT = 10;

/** Returns the object directory and file mode; called when objects are written. */
export type ObjectPlace = () => { directory: string; mode: number };

/** The repository's object directory, with git's own file mode. */
export function repositoryPlace({ commonDir }: Pick<Workspace, "commonDir">): ObjectPlace {
  return () => ({ directory: join(commonDir, "objects"), mode: 0o444 });
}

export class ObjectWriter {
  readonly hash: Workspace["hash"];
  readonly #place: ObjectPlace;
  readonly #before: readonly ObjectWriter[];
  readonly #pending = new Map<string, PendingObject>();
  readonly #written = new Set<string>();
  /** Trees written to a pack, which only git can read again, so they are worth caching. */
  readonly packedTrees = new Map<string, Buffer>();

  /** Writes to the repository by default. Flushing first flushes the writers in `before`. */
  constructor(
    workspace: Pick<Workspace, "commonDir" | "hash">,
    place: ObjectPlace = repositoryPlace(workspace),
    before: readonly ObjectWriter[] = [],
  ) {
    this.#place = place;
    this.#before = before;
    this.hash = workspace.hash;
  }

  idOf(type: ObjectType, data: Uint8Array): string {
    return hexDigest(this.hash, `${type} ${data.length}\0`, data);
  }

  add(type: ObjectType, data: Uint8Array): string {
    const id = this.idOf(type, data);
    if (!this.#written.has(id)) this.#pending.set(id, { id, type, data });
    return id;
  }

  /** Returns an object added here, which may not be on disk yet. */
  get(id: string): Uint8Array | undefined {
    return this.#pending.get(id)?.data;
  }

  /** Number of packs in the store, if this writer wrote one. */
  packs = 0;

  /** Number of wide trees written. */
  wideTrees = 0;

  get pendingCount(): number {
    return this.#pending.size;
  }

  /** Writes all added objects to the object store. */
  flush(): void {
    for (const writer of this.#before) writer.flush();
    if (this.#pending.size === 0) return;
    const objects = [...this.#pending.values()];
    const place = this.#place();
    // A wide tree is loose, so that the next hook can read it without starting git.
    const wide = objects.filter(isWide);
    const others = objects.filter((object) => !isWide(object));
    for (const object of wide) this.#writeLoose(object, place);
    this.wideTrees += wide.length;
    if (others.length <= LOOSE_LIMIT) for (const object of others) this.#writeLoose(object, place);
    else {
      this.#writePack(others, place);
      for (const { id, type, data } of others) if (type === "tree") this.packedTrees.set(id, Buffer.from(data));
    }
    for (const object of objects) this.#written.add(object.id);
    this.#pending.clear();
  }

  #writeLoose(object: PendingObject, { directory: objects, mode }: ReturnType<ObjectPlace>): void {
    const directory = join(objects, object.id.slice(0, 2));
    const path = join(directory, object.id.slice(2));
    if (freshen(path)) return;
    const header = Buffer.from(`${object.type} ${object.data.length}\0`);
    const content = compressed(object.type, Buffer.concat([header, object.data]));
    const temporary = join(directory, `tmp_obj_${process.pid}_${unique()}`);
    try {
      writeNew(temporary, content, mode, false);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      mkdirSync(directory, { recursive: true, mode: directoryMode(mode) });
      writeNew(temporary, content, mode, false);
    }
    renameSync(temporary, path);
  }

  #writePack(objects: PendingObject[], place: ReturnType<ObjectPlace>): void {
    const directory = join(place.directory, "pack");
    const { name, pack, index } = packObjects(objects, this.hash);
    const path = join(directory, `pack-${name}`);
    if (existsSync(`${path}.idx`) && freshen(`${path}.pack`)) return;
    mkdirSync(directory, { recursive: true, mode: directoryMode(place.mode) });
    this.packs = readdirSync(directory).filter((name) => name.endsWith(".idx")).length + 1;
    const temporary = join(directory, `tmp_pack_${process.pid}_${unique()}`);
    writeNew(temporary, pack, place.mode, true);
    renameSync(temporary, `${path}.pack`);
    const temporaryIndex = join(directory, `tmp_idx_${process.pid}_${unique()}`);
    writeNew(temporaryIndex, index, place.mode, true);
    renameSync(temporaryIndex, `${path}.idx`);
  }
}

function isWide({ type, data }: PendingObject): boolean {
  return type === "tree" && data.length >= WIDE_BYTES;
}

/** Mode for a directory that holds files of this mode. */
function directoryMode(mode: number): number {
  return (mode & 0o077) === 0 ? 0o700 : 0o777;
}

/** A process id alone is not unique: a killed process with the same id may have left a file. */
function unique(): string {
  return Math.random().toString(36).slice(2);
}

/** Touches an existing object, as git does, so that a running prune keeps it. */
function freshen(path: string): boolean {
  try {
    const now = new Date();
    utimesSync(path, now, now);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    return existsSync(path);
  }
}

function writeNew(path: string, content: Uint8Array, mode: number, sync: boolean): void {
  const fd = openSync(path, "wx", mode);
  try {
    writeAll(fd, content);
    if (sync) fsyncSync(fd);
    closeSync(fd);
  } catch (error) {
    closeSync(fd);
    unlinkSync(path);
    throw error;
  }
}
