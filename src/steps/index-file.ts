/**
 * steps.jsonl: one line a step, in the order they were saved, so that listing needs no git. A cache of what the
 * refs hold: a line that is torn is skipped, and the file can be made again from the refs.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { appendLine, writeFileAtomic } from "../base/files.ts";
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

/** In no line of a step's: there a list follows. */
const DELETED = '"deleted":"';

export function indexFile(workspace: Workspace): string {
  return join(workspace.storeDir, "steps.jsonl");
}

export function appendStep(workspace: Workspace, record: Step | Tombstone): void {
  const path = indexFile(workspace);
  const inode = appendLine(path, JSON.stringify(record));
  // Somebody wrote the list anew meanwhile: a line that is there twice counts once.
  if (statSync(path, { throwIfNoEntry: false })?.ino !== inode) appendStep(workspace, record);
}

/**
 * Writes the list anew: `records` of what is there. Without a lock, and no line is lost: what others append to the old file
 * until it is replaced is carried over here, and whoever finds it replaced after appending appends again.
 */
export function rewriteIndex(workspace: Workspace, records: (listed: Step[]) => readonly Step[]): void {
  const path = indexFile(workspace);
  let fd: number | undefined;
  try {
    fd = openIfThere(path);
    const known = fd === undefined ? 0 : fstatSync(fd).size;
    const lines = records([...stepsNewestFirst(workspace)].reverse()).map((step) => `${JSON.stringify(step)}\n`);
    writeFileAtomic(path, lines.join(""), { sync: true });
    faultPoint("index:replaced");
    if (fd === undefined) return;
    const late = Buffer.alloc(Math.max(0, fstatSync(fd).size - known));
    readSync(fd, late, 0, late.length, known);
    for (const line of late.toString("utf8").split("\n")) {
      const record = parseRecord(line);
      if (record) appendStep(workspace, record);
    }
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Newest first, reading only as much of the file as the caller consumes. Of a long list most lines need not be understood
 * to find a few: those that lack `part`, as JSON writes it, are passed over.
 */
export function* stepsNewestFirst(workspace: Workspace, part = ""): Generator<Step> {
  const deleted = new Set<string>();
  const seen = new Set<string>();
  for (const line of linesBackwards(indexFile(workspace))) {
    if (!line.includes(part) && !line.includes(DELETED)) continue;
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
    return isStep(record as Partial<Step>) ? (record as Step) : undefined;
  } catch {
    return undefined;
  }
}

/** Enough of its shape that nobody stumbles over the rest. */
function isStep({
  id,
  session,
  agent,
  kind,
  time,
  worktree,
  turn,
  prompt,
  name,
  files,
  snapshot,
}: Partial<Step>): boolean {
  return (
    [id, kind, time, worktree].every((field) => typeof field === "string") &&
    [session, agent, prompt, name].every((field) => field === null || typeof field === "string") &&
    Number.isSafeInteger(turn) &&
    [files?.added, files?.modified, files?.deleted].every(areTexts) &&
    [snapshot?.work, snapshot?.index].every((tree) => typeof tree === "string") &&
    [snapshot?.unmerged, snapshot?.intentToAdd, snapshot?.notCaptured].every(Array.isArray)
  );
}

function areTexts(list: unknown): boolean {
  return Array.isArray(list) && list.every((item) => typeof item === "string");
}

function* linesBackwards(path: string): Generator<string> {
  const fd = openIfThere(path);
  if (fd === undefined) return;
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
