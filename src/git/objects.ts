/**
 * Writes git objects without starting git: a few as loose files, many as one pack, both exactly as git itself
 * would. Nothing is visible until a ref points to it, so a kill at any point leaves only unused objects.
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
import { hexDigest } from "../base/digest.ts";
import { codeOf } from "../base/errors.ts";
import { writeAll } from "../base/files.ts";
import { compressed, type ObjectType, type PendingObject } from "./object.ts";
import { packObjects } from "./pack.ts";
import type { Workspace } from "./workspace.ts";

/** Above this many, one pack is cheaper to write (and for git to read later) than loose files. */
const LOOSE_LIMIT = 10;

export class ObjectWriter {
  readonly hash: Workspace["hash"];
  readonly #directory: string;
  readonly #pending = new Map<string, PendingObject>();
  readonly #written = new Set<string>();
  /** Trees that went into a pack, where only git finds them again: worth remembering. */
  readonly packedTrees = new Map<string, Buffer>();

  constructor(workspace: Pick<Workspace, "commonDir" | "hash">) {
    this.#directory = join(workspace.commonDir, "objects");
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

  /** The data of an object that was added here and may not be on disk yet. */
  get(id: string): Uint8Array | undefined {
    return this.#pending.get(id)?.data;
  }

  /** How many packs there are, where one was written here. */
  packs = 0;

  get pendingCount(): number {
    return this.#pending.size;
  }

  /** After this everything added is in the object store. */
  flush(): void {
    if (this.#pending.size === 0) return;
    const objects = [...this.#pending.values()];
    if (objects.length <= LOOSE_LIMIT) for (const object of objects) this.#writeLoose(object);
    else {
      this.#writePack(objects);
      for (const { id, type, data } of objects) if (type === "tree") this.packedTrees.set(id, Buffer.from(data));
    }
    for (const object of objects) this.#written.add(object.id);
    this.#pending.clear();
  }

  #writeLoose(object: PendingObject): void {
    const directory = join(this.#directory, object.id.slice(0, 2));
    const path = join(directory, object.id.slice(2));
    if (freshen(path)) return;
    const header = Buffer.from(`${object.type} ${object.data.length}\0`);
    const content = compressed(Buffer.concat([header, object.data]));
    const temporary = join(directory, `tmp_obj_${process.pid}_${unique()}`);
    try {
      writeNew(temporary, content, false);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      mkdirSync(directory, { recursive: true });
      writeNew(temporary, content, false);
    }
    renameSync(temporary, path);
  }

  #writePack(objects: PendingObject[]): void {
    const directory = join(this.#directory, "pack");
    const { name, pack, index } = packObjects(objects, this.hash);
    const path = join(directory, `pack-${name}`);
    if (existsSync(`${path}.idx`) && freshen(`${path}.pack`)) return;
    mkdirSync(directory, { recursive: true });
    this.packs = readdirSync(directory).filter((name) => name.endsWith(".idx")).length + 1;
    const temporary = join(directory, `tmp_pack_${process.pid}_${unique()}`);
    writeNew(temporary, pack, true);
    renameSync(temporary, `${path}.pack`);
    const temporaryIndex = join(directory, `tmp_idx_${process.pid}_${unique()}`);
    writeNew(temporaryIndex, index, true);
    renameSync(temporaryIndex, `${path}.idx`);
  }
}

/** A process id alone comes back: a killed process with the same one may have left its file behind. */
function unique(): string {
  return Math.random().toString(36).slice(2);
}

/** As git does: an object that is there already is touched, so that a running prune leaves it. */
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

function writeNew(path: string, content: Uint8Array, sync: boolean): void {
  const fd = openSync(path, "wx", 0o444);
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
