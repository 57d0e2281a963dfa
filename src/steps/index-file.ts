/**
 * steps.jsonl: one line a step, in the order they were saved, so that listing needs no git. A cache of what the
 * refs hold: a line that is torn is skipped, and the file can be made again from the refs.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../base/errors.ts";
import { makeDirectory, writeAll } from "../base/files.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "./model.ts";

/** A page of the timeline lies in the first block; whoever goes further reads ever more at once. */
const FIRST_BLOCK = 64 * 1024;
const LARGEST_BLOCK = 16 * 1024 * 1024;
const NEWLINE = 10;

/** A step that was deleted stays in the file until it is rewritten, with this line after it. */
export interface Tombstone {
  v: 1;
  deleted: string;
}

export function indexFile(workspace: Workspace): string {
  return join(workspace.storeDir, "steps.jsonl");
}

export function appendStep(workspace: Workspace, record: Step | Tombstone): void {
  const path = indexFile(workspace);
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
  let fd: number;
  try {
    fd = openSync(path, flags, 0o600);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    makeDirectory(dirname(path));
    fd = openSync(path, flags, 0o600);
  }
  try {
    // A line that a killed process left torn must not swallow this one.
    writeAll(fd, Buffer.from(`${endsTorn(fd) ? "\n" : ""}${JSON.stringify(record)}\n`));
  } finally {
    closeSync(fd);
  }
}

/** Newest first, reading only as much of the file as the caller consumes. */
export function* stepsNewestFirst(workspace: Workspace): Generator<Step> {
  const deleted = new Set<string>();
  const seen = new Set<string>();
  for (const line of linesBackwards(indexFile(workspace))) {
    const record = parseRecord(line);
    if (!record) continue;
    if ("deleted" in record) deleted.add(record.deleted);
    else if (!deleted.has(record.id) && !seen.has(record.id)) {
      seen.add(record.id);
      yield record;
    }
  }
}

function parseRecord(line: string): Step | Tombstone | undefined {
  try {
    const record: unknown = JSON.parse(line);
    if (typeof record !== "object" || record === null || !("v" in record) || record.v !== 1) return undefined;
    if ("deleted" in record && typeof record.deleted === "string") return record as Tombstone;
    return "id" in record && typeof record.id === "string" ? (record as Step) : undefined;
  } catch {
    return undefined;
  }
}

function* linesBackwards(path: string): Generator<string> {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  try {
    let position = fstatSync(fd).size;
    let rest: Buffer = Buffer.alloc(0);
    for (let block = FIRST_BLOCK; position > 0; block = Math.min(2 * block, LARGEST_BLOCK)) {
      const size = Math.min(block, position);
      position -= size;
      const data = Buffer.alloc(size + rest.length);
      readSync(fd, data, 0, size, position);
      rest.copy(data, size);
      let end = data.length;
      for (const newline of newlinesIn(data, size).reverse()) {
        if (newline + 1 < end) yield data.toString("utf8", newline + 1, end);
        end = newline;
      }
      rest = data.subarray(0, end);
    }
    if (rest.length > 0) yield rest.toString("utf8");
  } finally {
    closeSync(fd);
  }
}

/** Looked for forwards: that is what the runtime does quickly. */
function newlinesIn(data: Buffer, end: number): number[] {
  const found: number[] = [];
  for (let at = data.indexOf(NEWLINE); at !== -1 && at < end; at = data.indexOf(NEWLINE, at + 1)) found.push(at);
  return found;
}

function endsTorn(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] !== NEWLINE;
}
