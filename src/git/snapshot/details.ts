/**
 * Stores details: parts of a snapshot that rarely change, such as permissions, as files named by their hash, so that
 * steps share them. Details are not git objects: they name files that only the user may see, and anyone who can read
 * the repository can read its objects.
 */
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { codeOf } from "../../base/errors.ts";
import { namesIn, readText, removeFile, writeFileAtomic } from "../../base/fs/files.ts";
import { statOf } from "../index/stat-cache.ts";
import type { Workspace } from "../workspace.ts";

const DETAIL_ID = /^[0-9a-f]{40}$/;
/** A step that is still being saved is not listed yet; its details are much younger than this. */
const MIN_AGE_MS = 24 * 60 * 60 * 1000;

type Store = Pick<Workspace, "storeDir">;

/** Collects details and writes them to disk before the step that references them. */
export class DetailWriter {
  readonly #store: Store;
  readonly #pending = new Map<string, string>();

  constructor(store: Store) {
    this.#store = store;
  }

  add(content: string): string {
    const id = hexDigest("sha1", content);
    this.#pending.set(id, content);
    return id;
  }

  /** Returns a detail added here, which may not be on disk yet. */
  get(id: string): string | undefined {
    return this.#pending.get(id);
  }

  flush(): void {
    for (const [id, content] of this.#pending) {
      const file = detailFile(this.#store, id);
      if (!freshen(file)) writeFileAtomic(file, content);
    }
  }
}

/** Returns undefined if the detail is missing or does not match its hash. */
export function readDetail(store: Store, id: string): string | undefined {
  if (!DETAIL_ID.test(id)) return undefined;
  const content = readText(detailFile(store, id));
  return content !== undefined && hexDigest("sha1", content) === id ? content : undefined;
}

/** Removes details that no step references. */
export function removeUnusedDetails(store: Store, isUsed: (id: string) => boolean): void {
  for (const name of namesIn(detailDirectory(store))) {
    const file = join(detailDirectory(store), name);
    const stat = statOf(file);
    if (stat && !isUsed(name) && Date.now() - Number(stat.mtimeMs) > MIN_AGE_MS) removeFile(file);
  }
}

/** Updates the detail's time, so that `removeUnusedDetails` keeps it. Returns false if the detail does not exist. */
function freshen(file: string): boolean {
  try {
    const now = new Date();
    utimesSync(file, now, now);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

function detailDirectory({ storeDir }: Store): string {
  return join(storeDir, "details");
}

function detailFile(store: Store, id: string): string {
  return join(detailDirectory(store), id);
}
