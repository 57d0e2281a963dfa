/**
 * Owns the paths of run logs: `<logs>/YYYY-MM-DD/<session>.jsonl`. A session with children moves to
 * `<session>/<session>.jsonl`, beside `<session>/<child>.jsonl`, to any depth. docs/formats/runs.md specifies the
 * layout.
 */

import { existsSync, linkSync, renameSync, statSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { codeOf, UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { namesIn, removeFile } from "../../base/fs/files.ts";
import { makeGuardedDirectory, refuseLinks, writeGuarded } from "../../base/fs/guarded-files.ts";
import { newStepId } from "../../base/ids.ts";
import { findWorkspace } from "../../git/workspace.ts";
import { RunError } from "../problems.ts";

const SUFFIX = ".jsonl";
const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** The prefix of ids that we generate for sessions whose agent has not reported an id (yet). */
const OWN_ID = "run-";
const MAX_NAME = 100;

/** One log and its location. */
export interface LogFile {
  /** The session's id as a file name. */
  name: string;
  path: string;
  /** The day's directory, YYYY-MM-DD. */
  date: string;
  children: LogFile[];
}

/** `AIWR_LOG_DIR`, or `.aiwr/logs` at the work tree's root. Outside of any work tree, `.aiwr/logs` in `cwd`. */
export function logsDirectory(cwd: string, environment: Readonly<Record<string, string | undefined>>): string {
  const chosen = environment["AIWR_LOG_DIR"];
  if (chosen) return resolve(cwd, chosen);
  return join(findWorkspace(cwd)?.root ?? cwd, ".aiwr", "logs");
}

/**
 * Nothing below this directory is written through a link. The default location is inside the work tree, so the guard
 * starts at the work tree's root; a location that AIWR_LOG_DIR names is the user's own choice.
 */
export function guardRoot(logs: string): string {
  return isUsual(logs) ? dirname(dirname(logs)) : logs;
}

function isUsual(logs: string): boolean {
  return logs.endsWith(join(sep, ".aiwr", "logs"));
}

/** Creates the directory of a day. Inside a work tree, our directory excludes itself from `git status`. */
export function dayDirectory(logs: string, date: Date): string {
  const directory = join(logs, dayName(date));
  const root = guardRoot(logs);
  try {
    makeGuardedDirectory(root, directory);
    const ignore = join(dirname(logs), ".gitignore");
    if (isUsual(logs) && !existsSync(ignore)) writeGuarded(root, ignore, "*\n");
  } catch (error) {
    if (error instanceof UserError) throw placeAdvised(error);
    throw cannotWrite(logs, error);
  }
  return directory;
}

function placeAdvised({ kind, message, hint }: UserError): RunError {
  return new RunError(kind, { kind: "log-refused", reason: message, hint });
}

export function cannotWrite(logs: string, error: unknown): UserError {
  return new RunError("failed", { kind: "log-not-writable", logs, code: codeOf(error) ?? "unknown reason" });
}

export function dayName(date: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function newRunId(): string {
  return OWN_ID + newStepId();
}

/**
 * Turns a session's id into a file name. Agents choose the ids, so they may contain anything: characters that could
 * leave the directory, hide the file or cause confusion become `_`, and a part of the id's hash keeps such names
 * distinct.
 */
export function nameOf(id: string): string {
  const plain = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(id) && !id.includes("..") && !id.endsWith(SUFFIX);
  if (plain && id.length <= MAX_NAME) return id;
  const readable = id.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, MAX_NAME - 20);
  return `_${readable}-${hexDigest("sha256", id).slice(0, 12)}`;
}

export function fileIn(directory: string, name: string): string {
  return join(directory, name + SUFFIX);
}

/**
 * Returns the directory for a session's children, after moving the session's own log into it. Safe against concurrent
 * calls.
 */
export function folderOf(logs: string, log: LogFile): string {
  const folder = dirname(log.path);
  if (log.path === fileIn(join(folder), log.name) && folder.endsWith(`/${log.name}`)) return folder;
  const own = join(folder, log.name);
  refuseLinks(guardRoot(logs), log.path);
  makeGuardedDirectory(guardRoot(logs), own);
  faultPoint("run:folder");
  try {
    renameSync(log.path, fileIn(own, log.name));
  } catch (error) {
    // Another child moved the log first.
    if (codeOf(error) !== "ENOENT" || !existsSync(fileIn(own, log.name))) throw error;
  }
  faultPoint("run:moved");
  return own;
}

/** Renames a log to its session's name. Returns false, without overwriting, if a log of that name exists. */
export function moveLog(from: string, to: string): boolean {
  try {
    linkSync(from, to);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    // Not every file system supports hard links.
    if (existsSync(to)) return false;
    renameSync(from, to);
    return true;
  }
  faultPoint("run:linked");
  removeFile(from);
  return true;
}

/** Repairs a run that was killed while its log was renamed: removes our generated name and returns the other log. */
export function dropSecondName(log: LogFile, all: readonly LogFile[]): LogFile | undefined {
  const own = log.name.startsWith(OWN_ID) ? statSync(log.path, { throwIfNoEntry: false }) : undefined;
  if (!own || own.nlink < 2) return undefined;
  const other = all.find((each) => {
    const stat = each === log ? undefined : statSync(each.path, { throwIfNoEntry: false });
    return stat?.ino === own.ino && stat.dev === own.dev;
  });
  if (other) removeFile(log.path);
  return other;
}

/** Returns every log as a tree that follows the directories, newest day first. */
export function walkLogs(logs: string): LogFile[] {
  const days = namesIn(logs).filter((name) => DATE.test(name));
  return days
    .sort()
    .reverse()
    .flatMap((date) => walkDirectory(join(logs, date), date, null));
}

/** No session name ends in the log suffix, so names alone distinguish files from folders. */
function walkDirectory(directory: string, date: string, self: string | null): LogFile[] {
  const found = new Map<string, LogFile>();
  const folders: string[] = [];
  for (const entry of namesIn(directory)) {
    if (entry.startsWith(".")) continue;
    const name = entry.endsWith(SUFFIX) ? entry.slice(0, -SUFFIX.length) : null;
    if (name === null) folders.push(entry);
    else if (name !== self) found.set(name, { name, path: `${directory}/${entry}`, date, children: [] });
  }
  for (const name of folders) {
    const path = join(directory, name);
    const children = walkDirectory(path, date, name);
    const log = found.get(name);
    // If a run was killed during the move, the folder may be empty and the log still outside.
    if (log) log.children = children;
    else if (existsSync(fileIn(path, name))) found.set(name, { name, path: fileIn(path, name), date, children });
    else for (const child of children) found.set(child.name, child);
  }
  return [...found.values()];
}

/** Finds a session's log by its id or an id prefix of at least four characters. */
export function findLog(logs: string, id: string): LogFile | undefined {
  const name = nameOf(id);
  const all = flatten(walkLogs(logs));
  const exact = all.find((log) => log.name === name);
  if (exact || id.length < 4) return exact;
  const near = all.filter((log) => log.name.startsWith(id));
  if (near.length > 1) {
    throw new RunError("usage", {
      kind: "run-session-ambiguous",
      text: id,
      sessions: near.map((log) => ({ id: log.name, agent: null })),
    });
  }
  return near[0];
}

export function flatten(logs: readonly LogFile[], into: LogFile[] = []): LogFile[] {
  for (const log of logs) {
    into.push(log);
    if (log.children.length > 0) flatten(log.children, into);
  }
  return into;
}
