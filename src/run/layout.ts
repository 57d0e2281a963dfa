/**
 * Where the logs of runs are: `<logs>/YYYY-MM-DD/<session>.jsonl`, and once a session has a child
 * `<session>/<session>.jsonl` beside `<session>/<child>.jsonl`, to any depth. docs/formats/runs.md specifies it.
 */
import { existsSync, linkSync, lstatSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { hexDigest } from "../base/digest.ts";
import { codeOf, UserError } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { makeDirectory, namesIn, removeFile, writeFileAtomic } from "../base/files.ts";
import { newStepId } from "../base/ids.ts";
import { shownPath } from "../base/text.ts";
import { findWorkspace } from "../git/workspace.ts";

const SUFFIX = ".jsonl";
const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** Ids of our own, for sessions whose agent has not told theirs (yet). */
const OWN_ID = "run-";
const LONGEST_NAME = 100;

/** One log, by where it lies. */
export interface LogFile {
  /** The session's id as a file name. */
  name: string;
  path: string;
  /** The directory above: YYYY-MM-DD. */
  date: string;
  children: LogFile[];
}

/** `AIWR_LOG_DIR`, or `.aiwr/logs` at the work tree's root; outside of any work tree, in `cwd`. */
export function logsDirectory(cwd: string, environment: Readonly<Record<string, string | undefined>>): string {
  const chosen = environment["AIWR_LOG_DIR"];
  if (chosen) return resolve(cwd, chosen);
  return join(findWorkspace(cwd)?.root ?? cwd, ".aiwr", "logs");
}

/** Makes the directory of a day. What is ours inside of a work tree keeps itself out of `git status`. */
export function dayDirectory(logs: string, date: Date): string {
  const directory = join(logs, dayName(date));
  const own = dirname(logs);
  const isUsual = logs.endsWith(join(".aiwr", "logs"));
  if (isUsual) for (const path of [own, logs, directory]) refuseLink(path);
  try {
    if (isUsual && !existsSync(join(own, ".gitignore"))) {
      makeDirectory(own);
      writeFileAtomic(join(own, ".gitignore"), "*\n");
    }
    makeDirectory(directory);
  } catch (error) {
    throw cannotWrite(logs, error);
  }
  return directory;
}

/** A repository may come with one, and lead anywhere. */
function refuseLink(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  throw new UserError(
    "refused",
    `${shownPath(path)} is a link to somewhere else, and logs are not written through it.`,
    "Replace it by a directory, or name the place that you want with AIWR_LOG_DIR.",
  );
}

export function cannotWrite(logs: string, error: unknown): UserError {
  const reason = codeOf(error) ?? "unknown reason";
  return new UserError(
    "failed",
    `Cannot write to ${logs}`,
    `${explain(reason)} AIWR_LOG_DIR names another directory for the logs.`,
  );
}

function explain(reason: string): string {
  if (reason === "ENOSPC" || reason === "EDQUOT") return "The disk is full.";
  if (reason === "EROFS") return "The file system is read-only.";
  if (reason === "EACCES" || reason === "EPERM") return "Its permissions don't allow it.";
  return `The system says ${reason}.`;
}

function dayName(date: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export function newRunId(): string {
  return OWN_ID + newStepId();
}

/**
 * A session's id as a file name. Ids come from agents and may hold anything: what could leave the directory, hide or
 * be mistaken is replaced by `_`, and a piece of the id's hash keeps two such names apart.
 */
export function nameOf(id: string): string {
  const plain = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(id) && !id.includes("..") && !id.endsWith(SUFFIX);
  if (plain && id.length <= LONGEST_NAME) return id;
  const readable = id.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, LONGEST_NAME - 20);
  return `_${readable}-${hexDigest("sha256", id).slice(0, 12)}`;
}

export function fileIn(directory: string, name: string): string {
  return join(directory, name + SUFFIX);
}

/** The directory for the children of a session, with its own log moved there; others may be doing the same. */
export function folderOf(log: LogFile): string {
  const folder = dirname(log.path);
  if (log.path === fileIn(join(folder), log.name) && folder.endsWith(`/${log.name}`)) return folder;
  const own = join(folder, log.name);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  faultPoint("run:folder");
  try {
    renameSync(log.path, fileIn(own, log.name));
  } catch (error) {
    // Another child was faster.
    if (codeOf(error) !== "ENOENT" || !existsSync(fileIn(own, log.name))) throw error;
  }
  faultPoint("run:moved");
  return own;
}

/** Gives a log its session's name; false where there is one already, which is never written over. */
export function moveLog(from: string, to: string): boolean {
  try {
    linkSync(from, to);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    // Not every file system has links.
    if (existsSync(to)) return false;
    renameSync(from, to);
    return true;
  }
  faultPoint("run:linked");
  removeFile(from);
  return true;
}

/** A run that was killed while its log got its session's name left both: ours goes. Gives the other. */
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

/** Every log, as the tree that the directories make: days newest first. */
export function walkLogs(logs: string): LogFile[] {
  const days = namesIn(logs).filter((name) => DATE.test(name));
  return days
    .sort()
    .reverse()
    .flatMap((date) => walkDirectory(join(logs, date), date, null));
}

/** No session's name ends as a log's file does, so names alone tell files and folders apart. */
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
    // Killed while its log was being moved there, the folder may be empty and the log still outside.
    if (log) log.children = children;
    else if (existsSync(fileIn(path, name))) found.set(name, { name, path: fileIn(path, name), date, children });
    else for (const child of children) found.set(child.name, child);
  }
  return [...found.values()];
}

/** The log of a session, by its id or the beginning of it (at least four characters). */
export function findLog(logs: string, id: string): LogFile | undefined {
  const name = nameOf(id);
  const all = flatten(walkLogs(logs));
  const exact = all.find((log) => log.name === name);
  if (exact || id.length < 4) return exact;
  const near = all.filter((log) => log.name.startsWith(id));
  if (near.length > 1) {
    const names = near.slice(0, 5).map((log) => log.name);
    throw new UserError("usage", `Several sessions begin with ${id}: ${names.join(", ")}`, "Give more of the id.");
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
