/**
 * Owns the private index: a copy of the user's index in our state directory, where `git status` can keep an untracked
 * cache without touching the user's file. The copy's name identifies the version of the user's index it was made from.
 */
import { constants, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { removeFile, temporaryBeside } from "../../base/fs/files.ts";
import { gitIn } from "../git.ts";
import { tryGit } from "../run.ts";
import { STATUS_ARGUMENTS } from "../snapshot/status.ts";
import type { Workspace } from "../workspace.ts";

const WARM_ENDING = ".warm";
/** An older temporary file was left by a killed process. */
const UNFINISHED_MS = 60 * 60 * 1000;

export interface PrivateIndex {
  path: string;
  /** Settings for a `git status` that uses this index. */
  settings: string[];
  /** The copy is new and has no untracked cache yet, so warming it in the background pays off. */
  fresh: boolean;
}

/** An untracked cache made elsewhere may be wrong by a second: see `warmPrivateIndex`. */
const COLD = ["-c", "core.untrackedCache=false"];
const WARM = ["-c", "core.untrackedCache=keep"];

export function privateIndex(workspace: Workspace): PrivateIndex {
  if (workspace.kind === "private") return warmOrCold(join(workspace.stateDir, "index"));
  const source = join(workspace.gitDir, "index");
  const name = nameFor(source);
  // Before the first `git add` there is no index; git treats a missing file as an empty index.
  if (!name) return { path: join(workspace.stateDir, "index.none"), settings: COLD, fresh: false };
  const path = join(workspace.stateDir, name);
  const known = warmOrCold(path);
  if (existsSync(known.path)) return known;
  copyIndex(source, path, workspace.stateDir);
  return { path, settings: COLD, fresh: true };
}

function warmOrCold(path: string): PrivateIndex {
  const warm = `${path}${WARM_ENDING}`;
  if (existsSync(warm)) return { path: warm, settings: WARM, fresh: false };
  return { path, settings: COLD, fresh: false };
}

/**
 * Lets git refresh the copy's file times and the untracked cache that makes the next status cheap. git trusts that
 * cache for a directory with a time, in whole seconds, before the index's. git could miss a file that appears during
 * the status, so the index gets the time at which git started.
 */
export async function warmPrivateIndex(workspace: Workspace): Promise<void> {
  const { path } = privateIndex(workspace);
  if (!existsSync(path)) return;
  const { args, cwd } = gitIn(workspace);
  const temporary = temporaryBeside(path);
  try {
    const { atime, mtime } = statSync(path);
    copyFileSync(path, temporary, constants.COPYFILE_FICLONE);
    // Use the file system's clock, which may be another machine's.
    const began = wholeSecond(statSync(temporary).mtimeMs);
    utimesSync(temporary, atime, wholeSecond(mtime.getTime()));
    const where = { cwd, env: { GIT_INDEX_FILE: temporary, GIT_OPTIONAL_LOCKS: "1" } };
    const whole = [...args, "-c", "core.splitIndex=false"];
    if (!path.endsWith(WARM_ENDING)) await tryGit([...whole, ...COLD, "update-index", "--no-untracked-cache"], where);
    const { code } = await tryGit([...whole, "-c", "core.untrackedCache=true", ...STATUS_ARGUMENTS], where);
    if (code !== 0) return;
    utimesSync(temporary, began, began);
    renameSync(temporary, path.endsWith(WARM_ENDING) ? path : `${path}${WARM_ENDING}`);
  } finally {
    removeFile(temporary);
  }
}

function wholeSecond(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

function nameFor(source: string): string | undefined {
  try {
    const stat = statSync(source, { bigint: true });
    return `index.${stat.size}.${stat.mtimeNs}.${stat.ino}`;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function copyIndex(source: string, path: string, directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const before = statSync(source);
  const temporary = temporaryBeside(path);
  copyFileSync(source, temporary, constants.COPYFILE_FICLONE);
  // git trusts a file's recorded time only if it is older than the index; rounding down makes git trust less.
  utimesSync(temporary, before.atime, Math.floor(before.mtimeMs) / 1000);
  renameSync(temporary, path);
  removeOlder(path, directory);
}

/** Removes older copies except the previous one: a running git may not have opened it yet. */
function removeOlder(path: string, directory: string): void {
  const others = readdirSync(directory).flatMap((name) => {
    const place = join(directory, name);
    if (!name.startsWith("index.") || place === path || place === `${path}${WARM_ENDING}`) return [];
    const time = statSync(place, { throwIfNoEntry: false })?.ctimeMs;
    return time === undefined ? [] : [{ place, time }];
  });
  const newest = others.reduce((latest, { place, time }) => (time > latest.time ? { place, time } : latest), {
    place: "",
    time: 0,
  });
  const kept = newest.place.replace(/\.warm$/, "");
  for (const { place, time } of others) {
    const unfinished = /\.(tmp|lock)$/.test(place) && Date.now() - time < UNFINISHED_MS;
    if (!unfinished && place !== kept && place !== `${kept}${WARM_ENDING}`) removeFile(place);
  }
}
