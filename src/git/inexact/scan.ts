/**
 * Scans the tracked files that git may convert for inexact ones. Skips files that have not changed since the last scan:
 * with an unchanged index only few can have changed (`watched`); otherwise all are compared with the cache.
 */

import { decodePath, onDisk } from "../../base/fs/path-bytes.ts";
import { logError } from "../../base/log.ts";
import { gitIn } from "../git.ts";
import { markOf, statOf } from "../index/stat-cache.ts";
import { EXECUTABLE_MODE, FILE_MODE } from "../objects/trees.ts";
import { classify, type Question, type Verdict } from "./classify.ts";
import {
  type InexactState,
  type KnownFile,
  type LoadedState,
  saveInexact,
  type TrackedFile,
  type WatchedFile,
} from "./state.ts";

export interface ScanQuestion extends Question {
  /** The index and rules that the result is valid for. */
  valid: Pick<InexactState, "index" | "attributes" | "rules">;
  known: LoadedState | undefined;
  /** Paths with times that differ from the index; undefined if git was not asked or failed. */
  touched: Promise<string[] | undefined>;
  /** Paths that git reports as changed; the snapshot captures them anyway. */
  changed: ReadonlySet<string>;
}

export interface InexactFiles {
  files: TrackedFile[];
  /** False if some files could not be decided in time. */
  complete: boolean;
}

/** With more watched files, asking git which files were touched costs less than checking each of them. */
const MAX_WATCHED = 500;

export async function scanInexact(question: ScanQuestion): Promise<InexactFiles> {
  const { valid, changed } = question;
  const isChanged = ({ path }: TrackedFile) => changed.has(path);
  const known = question.known?.state.rules === valid.rules ? question.known : undefined;
  const isCurrent = known?.state.index === valid.index && !known.state.recheck;
  const suspects = isCurrent ? await suspectFiles(question, known) : undefined;
  if (known && suspects?.length === 0)
    return { files: known.state.inexact.filter((file) => !isChanged(file)), complete: true };
  const files = known?.files() ?? new Map<string, KnownFile>();
  const listed = suspects ?? (await trackedFiles(question));
  if (!suspects) forgetOthers(files, listed);
  const complete = await look(
    question,
    listed.filter((file) => !isChanged(file)),
    files,
  );
  const inexact = [...files].flatMap(([path, { mode, id, inexact }]) => (inexact ? [{ path, mode, id }] : []));
  const before = suspects ? (known?.state.watched ?? null) : listed;
  const watched = before && watchedFiles(files, before.filter(isChanged));
  const isRecent = watched === null && [...files.values()].some(({ mark }) => mark === "");
  saveInexact(question.workspace, { ...valid, inexact, watched, recheck: !complete || isRecent }, files);
  return { files: inexact.filter((file) => !isChanged(file)), complete };
}

/** Files that may have changed since the last scan, with an unchanged index; undefined if that is unknown. */
async function suspectFiles(question: ScanQuestion, known: LoadedState): Promise<TrackedFile[] | undefined> {
  const { changed } = question;
  const { watched } = known.state;
  if (watched !== null)
    return watched.filter(
      ({ path, mark }) => !changed.has(path) && (mark === "" || mark !== currentMark(question, path)),
    );
  const touched = (await question.touched)?.filter((path) => !changed.has(path));
  return touched?.length === 0 ? [] : touched && filesAt(touched, known.files());
}

/** `skipped`: files that git reports as changed. They are checked once it no longer does. */
function watchedFiles(files: ReadonlyMap<string, KnownFile>, skipped: readonly TrackedFile[]): WatchedFile[] | null {
  const watched = new Map<string, WatchedFile>();
  for (const [path, { mode, id, steady, sized, mark }] of files)
    if (!steady || !sized) watched.set(path, { path, mode, id, mark });
  for (const { path, mode, id } of skipped) watched.set(path, { path, mode, id, mark: "" });
  return watched.size > MAX_WATCHED ? null : [...watched.values()];
}

function forgetOthers(files: Map<string, KnownFile>, listed: readonly TrackedFile[]): void {
  const paths = new Set(listed.map(({ path }) => path));
  for (const path of files.keys()) if (!paths.has(path)) files.delete(path);
}

/** Returns undefined if any path is unknown. */
function filesAt(paths: readonly string[], known: ReadonlyMap<string, KnownFile>): TrackedFile[] | undefined {
  const files: TrackedFile[] = [];
  for (const path of paths) {
    const file = known.get(path);
    if (!file) return undefined;
    files.push({ path, mode: file.mode, id: file.id });
  }
  return files;
}

interface ListedFile extends TrackedFile {
  /** False if the index does not know the file's size, so that git compares only contents. */
  sized?: boolean;
}

/** Lists regular files that git checks and may convert. */
async function trackedFiles({ workspace, index, rules, timeoutMs }: Question): Promise<ListedFile[]> {
  const env = { GIT_INDEX_FILE: index };
  const output = await gitIn(workspace).run(["ls-files", "--stage", "-v", "-z", "--debug"], { env, timeoutMs });
  const files: ListedFile[] = [];
  for (let start = 0; start < output.length; ) {
    const nameEnd = output.indexOf(0, start);
    const tab = output.indexOf(9, start);
    const [tag, mode = "", id = "", stage] = output.toString("latin1", start, tab).split(" ");
    const path = decodePath(output.subarray(tab + 1, nameEnd));
    const size = output.indexOf("size: ", nameEnd);
    const isRegular = mode === FILE_MODE || mode === EXECUTABLE_MODE;
    if (tag === WATCHED && isRegular && stage === "0" && rules.reaches(path))
      files.push({ path, mode, id, sized: output[size + "size: ".length] !== ZERO });
    start = output.indexOf("\n", size) + 1;
  }
  return files;
}

const ZERO = 48;

/** git's tag for a file that it checks; other tags mark files that git skips. */
const WATCHED = "H";

/** Updates `known` for these files. Returns false if some could not be decided. */
async function look(question: Question, files: readonly ListedFile[], known: Map<string, KnownFile>): Promise<boolean> {
  const open = new Map<string, { file: ListedFile; mark: string }>();
  for (const file of files) {
    const { path, mode, id } = file;
    const mark = currentMark(question, path);
    const before = known.get(path);
    if (mark !== "" && before?.mark === mark && before.id === id) {
      known.set(path, { ...before, mode, sized: file.sized ?? before.sized });
    } else open.set(path, { file, mark });
  }
  if (open.size === 0) return true;
  let verdicts = new Map<string, Verdict>();
  try {
    verdicts = await classify(question, [...open.keys()]);
  } catch (error) {
    logError("looking for files that git converts", error);
  }
  for (const [path, { file, mark }] of open) {
    const verdict = verdicts.get(path);
    if (!verdict) {
      known.delete(path);
      continue;
    }
    const { mode, id, sized = known.get(path)?.sized ?? false } = file;
    known.set(path, { mode, id, mark, sized, ...verdict });
  }
  return verdicts.size === open.size;
}

function currentMark({ workspace }: Question, path: string): string {
  try {
    const readAt = Date.now();
    const stat = statOf(onDisk(workspace.root, path));
    return (stat && markOf(stat, readAt)) ?? "";
  } catch {
    return "";
  }
}
