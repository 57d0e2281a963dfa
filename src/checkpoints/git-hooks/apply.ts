/**
 * Applies the moves of a plan. If the process is killed at any point, each of the user's hooks still has a name in the
 * directory or in the store, and the next plan leads to the same result.
 */
import {
  chmodSync,
  copyFileSync,
  linkSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { makeDirectory, namesIn, removeFile, temporaryBeside, writeFileAtomic } from "../../base/fs/files.ts";
import { readHookFile } from "./files.ts";
import type { HookMove, SetAsideHook } from "./plan.ts";
import { isEdited, isOurScript } from "./script.ts";

/** `<hook>.<digest>.<mode>`, or `.link` for a link, with its target as the content. Earlier versions wrote no mode. */
const STORED = /^([a-z][a-z0-9-]*)\.([0-9a-f]{8})(?:\.([0-7]{3,4}|link))?$/;
const USUAL_MODE = 0o755;

export function applyMoves(directory: string, store: string, moves: readonly HookMove[]): void {
  for (const move of moves) {
    switch (move.do) {
      case "copy":
        makeRoom(directory, move.to, store, readHookFile(directory, move.from)?.identity);
        copyEntry(join(directory, move.from), join(directory, move.to));
        break;
      case "rename":
        makeRoom(directory, move.to, store, readHookFile(directory, move.from)?.identity);
        renameSync(join(directory, move.from), join(directory, move.to));
        break;
      case "set aside":
        setAside(directory, move.name, store);
        break;
      case "recover":
        makeRoom(directory, move.to, store, undefined);
        recover(store, move.stored, join(directory, move.to));
        break;
      case "remove":
        removeScript(directory, move.name, store);
    }
  }
}

/** Writes our script over an older one or over the hook that it calls; returns whether a write was necessary. */
export function writeScript(
  directory: string,
  name: string,
  store: string,
  { script, replaces }: { script: string; replaces: string | undefined },
): boolean {
  const path = join(directory, name);
  const present = readHookFile(directory, name);
  const bytes = Buffer.from(script).toString("latin1");
  if (present?.isOurs && present.content === bytes && (present.mode & 0o111) !== 0) return false;
  makeRoom(directory, name, store, replaces);
  writeFileAtomic(path, script, { mode: USUAL_MODE });
  chmodSync(path, USUAL_MODE);
  return true;
}

/** Moves a user's file into the store, preserving its bytes and mode. */
function setAside(directory: string, name: string, store: string): void {
  keepCopy(directory, name, store);
  removeFile(join(directory, name));
}

/** Returns the stored files of one hook, newest first. */
export function setAsideHooks(store: string, hook: string): SetAsideHook[] {
  const directory = join(store, "replaced-hooks");
  const found: { file: SetAsideHook; time: number }[] = [];
  for (const stored of namesIn(directory)) {
    const [, of, , how] = STORED.exec(stored) ?? [];
    const stat = lstatSync(join(directory, stored), { throwIfNoEntry: false });
    if (of !== hook || !stat?.isFile()) continue;
    const content = readFileSync(join(directory, stored), "latin1");
    const link = how === "link" ? content : undefined;
    const mode = how === undefined || link !== undefined ? USUAL_MODE : Number.parseInt(how, 8);
    const identity = `${link ?? ""}\0${content}`;
    found.push({
      file: { name: hook, stored, content, identity, link, mode, isOurs: isOurScript(content) },
      time: stat.mtimeMs,
    });
  }
  return found.sort((a, b) => b.time - a.time).map(({ file }) => file);
}

function keepCopy(directory: string, name: string, store: string): void {
  const path = join(directory, name);
  const hook = name.split(".")[0] ?? name;
  const stat = lstatSync(path);
  const bytes = stat.isSymbolicLink() ? Buffer.from(readlinkSync(path)) : readFileSync(path);
  const how = stat.isSymbolicLink() ? "link" : (stat.mode & 0o7777).toString(8).padStart(3, "0");
  const stored = `${hook}.${hexDigest("sha256", bytes).slice(0, 8)}.${how}`;
  makeDirectory(join(store, "replaced-hooks"));
  writeFileAtomic(join(store, "replaced-hooks", stored), bytes, { mode: 0o600, sync: true });
}

function recover(store: string, stored: string, to: string): void {
  const from = join(store, "replaced-hooks", stored);
  const [, , , how] = STORED.exec(stored) ?? [];
  const temporary = temporaryBeside(to);
  if (how === "link") symlinkSync(readFileSync(from), temporary);
  else {
    copyFileSync(from, temporary);
    chmodSync(temporary, how === undefined ? USUAL_MODE : Number.parseInt(how, 8));
  }
  renameSync(temporary, to);
  removeFile(from);
}

/** Hard-links the file, so that neither bytes nor mode can differ; falls back to a copy. */
function copyEntry(from: string, to: string): void {
  const temporary = temporaryBeside(to);
  const stat = lstatSync(from);
  try {
    if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), temporary);
    else if (!linked(from, temporary)) {
      copyFileSync(from, temporary);
      chmodSync(temporary, stat.mode & 0o7777);
      utimesSync(temporary, stat.atime, stat.mtime);
    }
    renameSync(temporary, to);
  } finally {
    // Renaming one hard link over another of the same file is a no-op and leaves the temporary name.
    removeFile(temporary);
  }
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    // The file system may not support hard links; the copy reports any other error.
    return false;
  }
}

/** Stores the file that is about to be replaced, unless it is our unedited script or identical to its replacement. */
function makeRoom(directory: string, name: string, store: string, identity: string | undefined): void {
  const file = readHookFile(directory, name);
  if (!file || file.identity === identity) return;
  if (!file.isOurs || isEdited(file.content)) keepCopy(directory, name, store);
}

/** Removes our script; stores a copy first if someone has edited it. */
function removeScript(directory: string, name: string, store: string): void {
  const file = readHookFile(directory, name);
  if (!file?.isOurs) return;
  if (isEdited(file.content)) keepCopy(directory, name, store);
  removeFile(join(directory, name));
}
