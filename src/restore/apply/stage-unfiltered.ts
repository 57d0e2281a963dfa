/**
 * Writes files that git would write without conversion, which are most: for small files, two git processes cost more
 * than everything else. Files that need conversion and large files are left to git.
 */
import { closeSync, openSync } from "node:fs";
import { writeAll } from "../../base/fs/files.ts";
import type { ConversionRules } from "../../git/conversion/conversion.ts";
import { gitIn } from "../../git/git.ts";
import type { ObjectReader } from "../../git/objects/reader.ts";
import { EXECUTABLE_MODE, FILE_MODE, type TreeEntry } from "../../git/objects/trees.ts";
import { readingEnvironment } from "../../git/private/store.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { PlannedWrite } from "../types.ts";
import { failure } from "./errors.ts";
import type { FsPath } from "./move.ts";

/** Larger files are streamed from git to disk instead of through memory. */
const LARGE = 1 << 20;
const LARGE_TIMEOUT_MS = 600_000;
/** Upper limit of content held in memory. */
const MAX_BYTES = 16 << 20;

/** Returns the files it wrote. */
export async function writeUnfiltered(
  reader: ObjectReader,
  rules: ConversionRules,
  files: readonly PlannedWrite[],
  placeOf: (path: string) => FsPath,
): Promise<Set<PlannedWrite>> {
  const plain = files.filter(({ path, raw, entry }) => raw === null && isFile(entry) && rules.writesUnchanged(path));
  const written = new Set<PlannedWrite>();
  for await (const some of batches(reader, plain)) {
    const contents = await Promise.all(some.map(({ entry }) => reader.require(entry.id, "blob")));
    for (const [i, content] of contents.entries()) {
      const file = some[i];
      if (!file) continue;
      try {
        writeNew(placeOf(file.path), file.entry, content);
      } catch (error) {
        throw failure(file.path, error, true);
      }
      written.add(file);
    }
  }
  return written;
}

/** Writes a blob's bytes unchanged. Streams large blobs from git to disk. */
export async function writeBlob(
  workspace: Workspace,
  reader: ObjectReader,
  place: FsPath,
  entry: TreeEntry,
  id: string,
): Promise<void> {
  const size = await reader.sizeOf(id);
  if (size === undefined || size < LARGE) return writeNew(place, entry, await reader.require(id, "blob"));
  const outputFd = openNew(place, entry);
  try {
    const env = readingEnvironment(workspace);
    await gitIn(workspace).run(["cat-file", "blob", id], { env, outputFd, timeoutMs: LARGE_TIMEOUT_MS });
  } finally {
    closeSync(outputFd);
  }
}

function writeNew(place: FsPath, entry: TreeEntry, content: Uint8Array): void {
  const fd = openNew(place, entry);
  try {
    writeAll(fd, content);
  } finally {
    closeSync(fd);
  }
}

/** Creates a file with git's mode, subject to the umask. Fails if the path exists. */
function openNew(place: FsPath, { mode }: TreeEntry): number {
  return openSync(place, "wx", mode === EXECUTABLE_MODE ? 0o777 : 0o666);
}

async function* batches(reader: ObjectReader, files: readonly PlannedWrite[]): AsyncGenerator<PlannedWrite[]> {
  const sizes = await Promise.all(files.map(({ entry }) => reader.sizeOf(entry.id)));
  let batch: PlannedWrite[] = [];
  let bytes = 0;
  for (const [i, file] of files.entries()) {
    const size = sizes[i];
    // git reports missing objects.
    if (size === undefined || size >= LARGE) continue;
    if (bytes + size > MAX_BYTES) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(file);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

function isFile({ mode }: TreeEntry): boolean {
  return mode === FILE_MODE || mode === EXECUTABLE_MODE;
}
