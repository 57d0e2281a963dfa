/**
 * Putting an edit into a file and taking it out again so that the file is, byte for byte, as it was. The bytes from
 * before are kept in a record; they come back if nobody has changed the file since, and otherwise only our entries
 * are taken out. A record is written before its file: whenever the process dies, one of the two tells the truth.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { readJson, removeFile, writeJson } from "../base/files.ts";
import { acquire } from "../base/lock.ts";
import { stateDirectory } from "../base/paths.ts";
import { shownPath } from "../base/text.ts";
import type { Edit } from "./edit.ts";
import type { Presence } from "./hook-entries.ts";
import { checkWritable, locate, readTarget, removeEmpty, removeTarget, type Target, writeTarget } from "./target.ts";
import { UnfitDocument } from "./value.ts";

const LOCK_WAIT_MS = 10_000;

export interface EditRecord {
  v: 1;
  /** Whose entries these are: an agent's id. */
  owner: string;
  /** The file behind every symbolic link. */
  file: string;
  /** The bytes before our entries came, in base64; null where there was no file. */
  before: string | null;
  /** SHA-256 of what we wrote onto `before`; two while one is being replaced. */
  after: string[];
  /** How many of the directories above the file were made for it. */
  directories: number;
  /** The directories on whose behalf the entries are there; when the last has gone, so do the entries. */
  holders: string[];
}

export interface Keeping {
  /** Where records are kept. */
  records: string;
  owner: string;
  holder: string;
  /** A directory that the file must not leave through symbolic links. */
  within?: string;
  /** How long another process may hold the file. */
  waitMs?: number;
}

export type Action = "created" | "edited" | "updated" | "unchanged" | "restored" | "removed" | "kept";

export interface Outcome {
  /** The path as it was asked for. */
  file: string;
  action: Action;
  /** Set where the path is a symbolic link: the file that was edited. */
  linkTo?: string;
}

export async function addTo(path: string, edit: Edit, keeping: Keeping): Promise<Outcome> {
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
    if (edit.presence(after) !== "installed") throw new UnfitDocument("our entries could not be written into it");
    const fresh = recordOf(keeping, target, before, after);
    const isSameBase = record !== undefined && record.before === fresh.before;
    fresh.after = [...new Set([...(isSameBase ? record.after : []), ...fresh.after])];
    fresh.directories = Math.max(record?.directories ?? 0, fresh.directories);
    writeRecord(keeping, heldBy({ ...fresh, holders: record?.holders ?? [] }, keeping));
    if (record && record.file !== target.real) removeFile(recordPath(keeping, record.file));
    faultPoint("edit:recorded");
    checkUntouched(target, found);
    writeTarget(target, after);
    faultPoint("edit:written");
    return outcome(target, !found ? "created" : presence === "outdated" ? "updated" : "edited");
  });
}

export async function removeFrom(path: string, edit: Edit, keeping: Keeping): Promise<Outcome> {
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

/** Whether the entries are in the file, without changing anything. */
export function lookAt(path: string, edit: Edit, within?: string): Presence {
  const target = locate(path, within);
  const found = readTarget(target);
  return found ? explained(path, () => edit.presence(found)) : "absent";
}

/** What `addTo` would do, without doing it. */
export function foresee(path: string, edit: Edit, within?: string): Outcome {
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

/** Whether `path` was edited on this holder's behalf. */
export function isHeld(path: string, keeping: Keeping): boolean {
  const real = locate(path, keeping.within).real;
  return readRecord(keeping, real, null)?.holders.includes(keeping.holder) ?? false;
}

/** Every record in a directory; damaged ones are left out. */
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

/** The file as it would be without us: what an update starts from. */
function baseline(found: Buffer, presence: Presence, edit: Edit, record: EditRecord | undefined): Buffer | null {
  if (record?.after.includes(hashOf(found))) return bytesBefore(record);
  if (presence === "absent") return found;
  return edit.remove(found, record ? bytesBefore(record) : undefined);
}

async function locked(path: string, keeping: Keeping, work: (target: Target) => Outcome): Promise<Outcome> {
  const real = locate(path, keeping.within).real;
  const lock = await acquire(lockPath(real), keeping.waitMs ?? LOCK_WAIT_MS);
  if (!lock) {
    throw new UserError(
      "failed",
      `Another Backtrail is changing ${shownPath(path)} right now.`,
      "Try again in a moment.",
    );
  }
  try {
    return explained(path, () => work(locate(path, keeping.within)));
  } finally {
    lock.release();
  }
}

/** The same for all repositories: a user's own settings file belongs to every one of them. */
export function lockPath(real: string): string {
  return join(stateDirectory(), "locks", `${keyOf(real)}.lock`);
}

function explained<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof UnfitDocument)) throw error;
    throw new UserError(
      "refused",
      `${shownPath(path)} was left as it is: ${error.message}.`,
      "Correct the file (or move it away) and run the command again.",
    );
  }
}

/** The agent writes its settings too, and takes no lock of ours. */
function checkUntouched(target: Target, found: Buffer | null): void {
  const now = readTarget(locate(target.path));
  if (found === null ? now === null : now?.equals(found)) return;
  throw new UserError("failed", `${shownPath(target.path)} changed while it was being edited.`, "Try again.");
}

function recordOf(keeping: Keeping, target: Target, before: Buffer | null, after: Buffer): EditRecord {
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

function heldBy(record: EditRecord, keeping: Keeping): EditRecord {
  return { ...record, holders: [...new Set([...record.holders, keeping.holder])] };
}

/** The file's record, or the one of a file with the same bytes that was elsewhere: a repository may have moved. */
function readRecord(keeping: Keeping, file: string, found: Buffer | null): EditRecord | undefined {
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

function writeRecord(keeping: Keeping, record: EditRecord): void {
  writeJson(recordPath(keeping, record.file), record, { sync: true });
}

function recordPath(keeping: Keeping, file: string): string {
  return join(keeping.records, `${keyOf(`${keeping.owner}\0${file}`)}.json`);
}

/** A damaged record is as good as none: our entries are then taken out by editing. */
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
