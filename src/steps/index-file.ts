/**
 * Reads and writes lists of steps: one JSON line per step, in the order they were saved, so that listing needs no git.
 * Torn lines are skipped. `steps.jsonl` in the store lists all steps; each session has a second copy of its records
 * with its conversation (conversation/files.ts), from which `steps.jsonl` can be rebuilt.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../base/errors.ts";
import { faultPoint } from "../base/fault-point.ts";
import { appendLine, writeFileAtomic } from "../base/fs/files.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../model/step.ts";

/** The first block holds about one page of the timeline; each further block is twice as large. */
const FIRST_BLOCK = 64 * 1024;
const MAX_BLOCK = 16 * 1024 * 1024;
const NEWLINE = 10;

/** Marks an earlier line's step as deleted until the file is rewritten. */
export interface Tombstone {
  v: 1;
  deleted: string;
}

/** Never matches a step's line, where `"deleted":` is followed by a list. */
const DELETED = '"deleted":"';

export function indexFile(workspace: Workspace): string {
  return join(workspace.storeDir, "steps.jsonl");
}

export function appendStep(workspace: Workspace, record: Step | Tombstone): void {
  appendRecord(indexFile(workspace), record);
}

export function appendRecord(path: string, record: Step | Tombstone): void {
  const inode = appendLine(path, JSON.stringify(record));
  // Another process has replaced the file: append again. Readers ignore duplicate lines.
  if (statSync(path, { throwIfNoEntry: false })?.ino !== inode) appendRecord(path, record);
}

/**
 * Rewrites the list with the result of `records`. Needs no lock and loses no line: this function copies lines that
 * other processes append to the old file in the meantime, and a process that finds the file replaced appends its line
 * again.
 */
export function rewriteIndex(workspace: Workspace, records: (listed: Step[]) => readonly Step[]): void {
  rewriteRecords(indexFile(workspace), records);
}

/** `beside` is the path prefix of the temporary file. */
export function rewriteRecords(path: string, records: (listed: Step[]) => readonly Step[], beside = path): void {
  let fd: number | undefined;
  try {
    fd = openIfThere(path);
    const known = fd === undefined ? 0 : fstatSync(fd).size;
    const lines = records([...recordsNewestFirst(path)].reverse()).map((step) => `${JSON.stringify(step)}\n`);
    writeFileAtomic(path, lines.join(""), { sync: true, beside });
    faultPoint("index:replaced");
    if (fd === undefined) return;
    const late = Buffer.alloc(Math.max(0, fstatSync(fd).size - known));
    readSync(fd, late, 0, late.length, known);
    for (const line of late.toString("utf8").split("\n")) {
      const record = parseRecord(line);
      if (record) appendRecord(path, record);
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

/** Newest first; reads only as much of the file as the caller consumes. Skips lines without the text `part`. */
export function* recordsNewestFirst(path: string, part = ""): Generator<Step> {
  const deleted = new Set<string>();
  const seen = new Set<string>();
  for (const line of linesBackwards(path)) {
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

/** Parses a step's record; undefined if it is not a step. */
export function parseStep(data: Uint8Array): Step | undefined {
  const record = parseRecord(Buffer.from(data).toString("utf8"));
  return record && !("deleted" in record) ? record : undefined;
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

/** Validates the fields that other code reads without a check. Allocates no lists, because a page has many steps. */
function isStep({
  id,
  kind,
  time,
  worktree,
  session,
  agent,
  prompt,
  name,
  turn,
  files,
  snapshot,
}: Partial<Step>): boolean {
  return (
    isText(id) &&
    isText(kind) &&
    isText(time) &&
    isText(worktree) &&
    isTextOrNull(session) &&
    isTextOrNull(agent) &&
    isTextOrNull(prompt) &&
    isTextOrNull(name) &&
    Number.isSafeInteger(turn) &&
    areTexts(files?.added) &&
    areTexts(files?.modified) &&
    areTexts(files?.deleted) &&
    isText(snapshot?.work) &&
    isText(snapshot?.index) &&
    Array.isArray(snapshot?.unmerged) &&
    Array.isArray(snapshot?.intentToAdd) &&
    Array.isArray(snapshot?.notCaptured)
  );
}

function isText(field: unknown): boolean {
  return typeof field === "string";
}

function isTextOrNull(field: unknown): boolean {
  return field === null || typeof field === "string";
}

function areTexts(list: unknown): boolean {
  return Array.isArray(list) && list.every(isText);
}

function* linesBackwards(path: string): Generator<string> {
  const fd = openIfThere(path);
  if (fd === undefined) return;
  try {
    let position = fstatSync(fd).size;
    let rest: Buffer = Buffer.alloc(0);
    for (let block = FIRST_BLOCK; position > 0; block = Math.min(2 * block, MAX_BLOCK)) {
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

/** Searches forward, which is fast in the runtime. */
function newlinesIn(data: Buffer, end: number): number[] {
  const found: number[] = [];
  for (let at = data.indexOf(NEWLINE); at !== -1 && at < end; at = data.indexOf(NEWLINE, at + 1)) found.push(at);
  return found;
}
