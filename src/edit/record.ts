/**
 * Installs an edit in a file and uninstalls it so that the file is byte for byte what it was. A record keeps the
 * original bytes: uninstalling restores them if the file is unchanged since, and otherwise removes only our entries.
 * The record is written before the file, so a crash at any point leaves at least one of them correct.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { faultPoint } from "../base/fault-point.ts";
import { readJson, removeFile, writeJson } from "../base/fs/files.ts";
import { acquire } from "../base/fs/lock.ts";
import { stateDirectory } from "../base/paths.ts";
import type { Edit } from "./edit.ts";
import type { Presence } from "./hook-entries.ts";
import { EditError } from "./problems.ts";
import { checkWritable, locate, readTarget, removeEmpty, removeTarget, type Target, writeTarget } from "./target.ts";
import { UnsupportedDocument } from "./value.ts";

const LOCK_WAIT_MS = 10_000;

export interface EditRecord {
  v: 1;
  /** The id of the agent that the entries belong to. */
  owner: string;
  /** The real path, with all symbolic links resolved. */
  file: string;
  /** The file's bytes before our edit, in base64; null if there was no file. */
  before: string | null;
  /** SHA-256 of the file after our edit of `before`; two hashes while an update replaces the edit. */
  after: string[];
  /** The number of parent directories that we created for the file. */
  directories: number;
  /** The directories that need the entries; uninstalling for the last holder removes the entries. */
  holders: string[];
}

export interface EditOwner {
  records: string;
  owner: string;
  holder: string;
  /** A directory that the file's real path must not leave. */
  within?: string;
  /** How long to wait for another process that has locked the file. */
  waitMs?: number;
}

type Action = "created" | "edited" | "updated" | "unchanged" | "restored" | "removed" | "kept";

export interface Outcome {
  /** The path that the caller passed. */
  file: string;
  action: Action;
  /** The edited file, if the path is a symbolic link. */
  linkTo?: string;
}

export async function installEdit(path: string, edit: Edit, keeping: EditOwner): Promise<Outcome> {
  return locked(path, keeping, (target) => {
    const found = readTarget(target);
    const record = readRecord(keeping, target.real, found);
    const presence = found ? edit.presence(found) : "absent";
    if (found && presence === "installed") {
      const known = record ?? recordOf(keeping, target, edit.remove(found, undefined), found);
      writeRecord(keeping, heldBy({ ...known, file: target.real }, keeping));
      if (known.file !== target.real) removeFile(recordPath(keeping, known.file));
      return outcome(target, "unchanged");
    }
    const before = found && baseline(found, presence, edit, record);
    const after = edit.add(before);
    if (edit.presence(after) !== "installed") throw new UnsupportedDocument({ kind: "not-written" });
    const fresh = recordOf(keeping, target, before, after);
    const isSameBase = record !== undefined && record.before === fresh.before;
    fresh.after = [...new Set([...(isSameBase ? record.after : []), ...fresh.after])];
    fresh.directories = Math.max(record?.directories ?? 0, fresh.directories);
    writeRecord(keeping, heldBy({ ...fresh, holders: record?.holders ?? [] }, keeping));
    if (record && record.file !== target.real) removeFile(recordPath(keeping, record.file));
    faultPoint("edit:recorded");
    checkUntouched(target, found);
    writeTarget(target, after, edit.executable ? 0o777 : 0o666);
    faultPoint("edit:written");
    return outcome(target, !found ? "created" : presence === "outdated" ? "updated" : "edited");
  });
}

export async function uninstallEdit(path: string, edit: Edit, keeping: EditOwner): Promise<Outcome> {
  return locked(path, keeping, (target) => {
    const found = readTarget(target);
    const record = readRecord(keeping, target.real, found);
    const others = record?.holders.filter((holder) => holder !== keeping.holder && existsSync(holder)) ?? [];
    if (record && others.length > 0) {
      writeRecord(keeping, { ...record, holders: others });
      return outcome(target, "kept");
    }
    const action = found ? takeOut(target, found, edit, record) : "unchanged";
    if (!found) removeEmpty(madeDirectories(target, record));
    faultPoint("edit:restored");
    removeFile(recordPath(keeping, record?.file ?? target.real));
    removeEmpty([keeping.records]);
    return outcome(target, action);
  });
}

/** Deletes the record of a file that was deleted along with its directory. Touches no other file. */
export function forgetEdit(file: string, keeping: EditOwner): void {
  const path = recordPath(keeping, file);
  if (readLeniently(path)?.owner !== keeping.owner) return;
  removeFile(path);
  removeEmpty([keeping.records]);
}

/** Reports whether the file contains the entries. Read-only. */
export function inspectEdit(path: string, edit: Edit, within?: string): Presence {
  const target = locate(path, within);
  const found = readTarget(target);
  return found ? explained(path, () => edit.presence(found)) : "absent";
}

/** Reports what `installEdit` would do. Read-only. */
export function previewEdit(path: string, edit: Edit, within?: string): Outcome {
  const target = locate(path, within);
  const found = readTarget(target);
  return explained(path, () => {
    const presence = found ? edit.presence(found) : "absent";
    if (presence === "installed") return outcome(target, "unchanged");
    edit.add(found && baseline(found, presence, edit, undefined));
    checkWritable(target);
    return outcome(target, !found ? "created" : presence === "outdated" ? "updated" : "edited");
  });
}

/** True if `path` has been edited for this holder. */
export function isOwnedBy(path: string, keeping: EditOwner): boolean {
  const real = locate(path, keeping.within).real;
  return readRecord(keeping, real, null)?.holders.includes(keeping.holder) ?? false;
}

/** Returns every record in a directory, skipping damaged ones. */
export function recordsIn(directory: string): EditRecord[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith(".json"))
    .map((name) => readLeniently(join(directory, name)))
    .filter((record) => record !== undefined);
}

function takeOut(target: Target, found: Buffer, edit: Edit, record: EditRecord | undefined): Action {
  const isOurs = record?.after.includes(hashOf(found)) ?? false;
  if (!isOurs && edit.presence(found) === "absent") return "unchanged";
  const before = record ? bytesBefore(record) : undefined;
  const left = record && isOurs ? bytesBefore(record) : edit.remove(found, before);
  checkUntouched(target, found);
  if (left === null) {
    removeTarget(target, madeDirectories(target, record));
    return "removed";
  }
  writeTarget(target, left);
  return isOurs ? "restored" : "edited";
}

/** Returns the file without our entries, which an update starts from. */
function baseline(found: Buffer, presence: Presence, edit: Edit, record: EditRecord | undefined): Buffer | null {
  if (record?.after.includes(hashOf(found))) return bytesBefore(record);
  if (presence === "absent") return found;
  return edit.remove(found, record ? bytesBefore(record) : undefined);
}

async function locked(path: string, keeping: EditOwner, work: (target: Target) => Outcome): Promise<Outcome> {
  const real = locate(path, keeping.within).real;
  const lock = await acquire(lockPath(real), keeping.waitMs ?? LOCK_WAIT_MS);
  if (!lock) {
    throw new EditError("failed", { kind: "file-locked", path });
  }
  try {
    return explained(path, () => work(locate(path, keeping.within)));
  } finally {
    lock.release();
  }
}

/** The lock is global, not per repository: all repositories share the user's settings file. */
export function lockPath(real: string): string {
  return join(stateDirectory(), "locks", `${keyOf(real)}.lock`);
}

function explained<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof UnsupportedDocument)) throw error;
    throw new EditError("refused", { kind: "file-unsupported", path, reason: error.reason });
  }
}

/** The agent also writes its settings, and does not take our lock. */
function checkUntouched(target: Target, found: Buffer | null): void {
  const now = readTarget(locate(target.path));
  if (found === null ? now === null : now?.equals(found)) return;
  throw new EditError("failed", { kind: "file-changed-meanwhile", path: target.path });
}

function recordOf(keeping: EditOwner, target: Target, before: Buffer | null, after: Buffer): EditRecord {
  return {
    v: 1,
    owner: keeping.owner,
    file: target.real,
    before: before?.toString("base64") ?? null,
    after: [hashOf(after)],
    directories: target.missing.length,
    holders: [],
  };
}

function heldBy(record: EditRecord, keeping: EditOwner): EditRecord {
  return { ...record, holders: [...new Set([...record.holders, keeping.holder])] };
}

/** Returns the file's record, or that of a missing file with the same name and bytes: the repository may have moved. */
function readRecord(keeping: EditOwner, file: string, found: Buffer | null): EditRecord | undefined {
  const isIts = (record: EditRecord) => record.owner === keeping.owner && basename(record.file) === basename(file);
  const record = readLeniently(recordPath(keeping, file));
  if (record && isIts(record) && record.file === file) return record;
  const hash = found && hashOf(found);
  if (hash === null) return undefined;
  return recordsIn(keeping.records).find(
    (other) => isIts(other) && other.after.includes(hash) && !existsSync(other.file),
  );
}

function madeDirectories(target: Target, record: EditRecord | undefined): string[] {
  const directories: string[] = [];
  let directory = dirname(target.real);
  for (let made = record?.directories ?? 0; made > 0 && dirname(directory) !== directory; made--) {
    directories.unshift(directory);
    directory = dirname(directory);
  }
  return directories;
}

function writeRecord(keeping: EditOwner, record: EditRecord): void {
  writeJson(recordPath(keeping, record.file), record, { sync: true });
}

function recordPath(keeping: EditOwner, file: string): string {
  return join(keeping.records, `${keyOf(`${keeping.owner}\0${file}`)}.json`);
}

/** Treats a damaged record as missing; uninstalling then edits our entries out of the file. */
function readLeniently(path: string): EditRecord | undefined {
  try {
    const value = readJson(path);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is EditRecord {
  if (typeof value !== "object" || value === null) return false;
  const record = value as Partial<Record<keyof EditRecord, unknown>>;
  return (
    record.v === 1 &&
    typeof record.owner === "string" &&
    typeof record.file === "string" &&
    (record.before === null || typeof record.before === "string") &&
    Number.isSafeInteger(record.directories) &&
    [record.after, record.holders].every(isTexts)
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function bytesBefore(record: EditRecord): Buffer | null {
  return record.before === null ? null : Buffer.from(record.before, "base64");
}

function outcome(target: Target, action: Action): Outcome {
  return { file: target.path, action, ...(target.isLink ? { linkTo: target.real } : {}) };
}

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function keyOf(text: string): string {
  return hashOf(Buffer.from(text)).slice(0, 20);
}
