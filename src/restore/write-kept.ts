/**
 * Writes files of which git would write just what it keeps, as it does of most: for small ones two processes of git's
 * take longer than everything else. Whatever may be converted on its way, and whatever is large, is left to git.
 */
import { closeSync, openSync } from "node:fs";
import { UserError } from "../base/errors.ts";
import { writeAll } from "../base/files.ts";
import type { ConversionRules } from "../git/conversion.ts";
import type { ObjectReader } from "../git/reader.ts";
import { EXECUTABLE_MODE, FILE_MODE, type TreeEntry } from "../git/trees.ts";
import { failure } from "./failure.ts";
import type { PlannedWrite } from "./model.ts";
import type { Place } from "./move.ts";

/** git need not hold a file in memory to write it. */
const LARGE = 1 << 20;
/** In memory at once. */
const MOST_BYTES = 16 << 20;

/** Gives those that were written. */
export async function writeKept(
  reader: ObjectReader,
  rules: ConversionRules,
  files: readonly PlannedWrite[],
  placeOf: (path: string) => Place,
): Promise<Set<PlannedWrite>> {
  const plain = files.filter(({ path, raw, entry }) => raw === null && isFile(entry) && rules.writesAsKept(path));
  const written = new Set<PlannedWrite>();
  for await (const some of batches(reader, plain)) {
    const contents = await Promise.all(some.map(({ entry }) => reader.require(entry.id, "blob")));
    for (const [i, content] of contents.entries()) {
      const file = some[i];
      if (!file) continue;
      try {
        writeNew(placeOf(file.path), file.entry, content);
      } catch (error) {
        const { message, hint } = failure(file.path, error);
        throw new UserError("failed", `${message} Nothing was changed.`, hint);
      }
      written.add(file);
    }
  }
  return written;
}

/** As git makes it: the process's own mask decides the rest. Nothing may stand there. */
export function writeNew(place: Place, { mode }: TreeEntry, content: Uint8Array): void {
  const fd = openSync(place, "wx", mode === EXECUTABLE_MODE ? 0o777 : 0o666);
  try {
    writeAll(fd, content);
  } finally {
    closeSync(fd);
  }
}

async function* batches(reader: ObjectReader, files: readonly PlannedWrite[]): AsyncGenerator<PlannedWrite[]> {
  const sizes = await Promise.all(files.map(({ entry }) => reader.sizeOf(entry.id)));
  let batch: PlannedWrite[] = [];
  let bytes = 0;
  for (const [i, file] of files.entries()) {
    const size = sizes[i];
    // What is missing is git's to complain about.
    if (size === undefined || size >= LARGE) continue;
    if (bytes + size > MOST_BYTES) {
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
