/**
 * Caches the packed wide trees that the last snapshot read as files: only git could read them otherwise, and starting
 * git takes a hook longer than reading the files. A file that does not match its hash is ignored.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { namesIn, removeFile, writeFileAtomic } from "../../base/fs/files.ts";
import type { Workspace } from "../workspace.ts";
import { WIDE_BYTES } from "./tree-bytes.ts";

const MAX_BYTES = 16 << 20;

export class WideTrees {
  readonly #directory: string;
  readonly #hash: Workspace["hash"];
  /** Ids of the cached trees. */
  readonly #names: Set<string>;

  constructor({ stateDir, hash }: Pick<Workspace, "stateDir" | "hash">) {
    this.#directory = join(stateDir, "wide-trees");
    this.#hash = hash;
    this.#names = new Set(namesIn(this.#directory));
  }

  get(id: string): Buffer | undefined {
    if (!this.#names.has(id)) return undefined;
    try {
      const data = readFileSync(join(this.#directory, id));
      return hexDigest(this.#hash, `tree ${data.length}\0`, data) === id ? data : undefined;
    } catch {
      return undefined;
    }
  }

  /** Caches as many of these trees as fit, and removes all others. */
  keep(trees: ReadonlyMap<string, Buffer>): void {
    const kept = new Set<string>();
    let size = 0;
    for (const [id, data] of trees) {
      if (data.length < WIDE_BYTES || size + data.length > MAX_BYTES) continue;
      size += data.length;
      kept.add(id);
      if (!this.#names.has(id)) writeFileAtomic(join(this.#directory, id), data);
    }
    for (const id of this.#names) if (!kept.has(id)) removeFile(join(this.#directory, id));
  }
}
