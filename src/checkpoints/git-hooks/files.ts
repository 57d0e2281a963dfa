/** Reads the files of one hook in a hooks directory, and derives from their text which file calls which. */
import { lstatSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { namesIn } from "../../base/fs/files.ts";
import type { EarlierHook } from "./guard.ts";
import { managerOf, signIn } from "./managers.ts";
import { callsEarlier, isOurScript } from "./script.ts";

/** The suffix of the user's earlier hook while our script has its name. */
const KEPT_SUFFIX = ".before-backtrail";
const MAX_FILE_BYTES = 1 << 20;
const MAX_CHAIN = 16;
const MAX_SIGN = 200;

export interface HookFile {
  name: string;
  /** Latin1 text. For a link, the content of its target; empty if unreadable or too large for a script. */
  content: string;
  /** Two files have the same identity only if they are identical byte for byte. */
  identity: string;
  /** The link's target; undefined for a regular file. */
  link: string | undefined;
  mode: number;
  isOurs: boolean;
}

export type HookFiles = ReadonlyMap<string, HookFile>;

export function keptName(hook: string): string {
  return `${hook}${KEPT_SUFFIX}`;
}

/** Reads the hook itself and every file whose name begins with the hook's name and a dot. */
export function readHookFiles(
  directory: string,
  hook: string,
  names: readonly string[] = namesIn(directory),
): HookFiles {
  const found = new Map<string, HookFile>();
  for (const name of names) {
    if (name !== hook && !name.startsWith(`${hook}.`)) continue;
    const file = readHookFile(directory, name);
    if (file) found.set(name, file);
  }
  return found;
}

/** Returns undefined if there is no file, or something that is not a hook: a directory, a socket. */
export function readHookFile(directory: string, name: string): HookFile | undefined {
  const path = join(directory, name);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat || (!stat.isFile() && !stat.isSymbolicLink())) return undefined;
  const link = stat.isSymbolicLink() ? readlinkSync(path) : undefined;
  const content = contentOf(path);
  const bytes = content === "" ? `${stat.size} ${stat.ino} ${stat.mtimeMs}` : content;
  const isOurs = link === undefined && isOurScript(content);
  return { name, content, identity: `${link ?? ""}\0${bytes}`, link, mode: stat.mode & 0o7777, isOurs };
}

function contentOf(path: string): string {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= MAX_FILE_BYTES ? readFileSync(path, "latin1") : "";
  } catch {
    // A dangling link, or a file that only its owner may read.
    return "";
  }
}

/** True if running one file runs the other, judging by its text. A hook that calls the hook's own name calls itself. */
export function calls(caller: HookFile, called: string, hook: string): boolean {
  if (called === hook || called === caller.name) return false;
  if (caller.isOurs) return called === keptName(hook) && callsEarlier(caller.content);
  const manager = managerOf(caller.content);
  const suffix = called.slice(hook.length);
  if (manager?.callsKept === "always" && manager.keepsAs === suffix) return true;
  const mention = new RegExp(`${escaped(suffix)}(?![\\w-])`);
  return codeLines(caller.content).some((line) => mention.test(line));
}

/** Returns the first script of ours that running `caller` reaches, directly or through other files. */
export function findOurs(files: HookFiles, caller: HookFile, hook: string): HookFile | undefined {
  const seen = new Set([caller.name]);
  const waiting = [caller];
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    for (const file of files.values()) {
      if (seen.has(file.name) || !calls(next, file.name, hook)) continue;
      if (file.isOurs) return file;
      seen.add(file.name);
      waiting.push(file);
    }
  }
  return undefined;
}

/** True if a path in its text leads to a script of ours in another directory, directly or through other files. */
export function leadsToOursElsewhere(file: HookFile, root: string, directory: string): boolean {
  const seen = new Set([join(directory, file.name)]);
  const waiting = [file.content];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (const path of pathsIn(next, root)) {
      if (seen.has(path) || path.startsWith(`${directory}/`)) continue;
      seen.add(path);
      const content = contentOf(path);
      if (isOurScript(content)) return true;
      if (content !== "" && seen.size <= MAX_CHAIN) waiting.push(content);
    }
  }
  return false;
}

function pathsIn(content: string, root: string): string[] {
  const words = codeLines(content).flatMap((line) => line.match(/[\w.@/+-]+/g) ?? []);
  return words.filter((word) => word.includes("/")).map((word) => resolve(root, word));
}

/** True if `other` does everything that `hook` does: a later version of it, or a hook of the same manager. */
export function covers(other: HookFile, hook: HookFile): boolean {
  if (other.identity === hook.identity) return true;
  const manager = managerOf(hook.content);
  if (manager && managerOf(other.content) === manager) return true;
  const lines = codeLines(hook.content);
  const others = new Set(codeLines(other.content));
  return lines.length > 0 && lines.every((line) => others.has(line));
}

/** Describes how our script calls an earlier hook. */
export function earlierHook(file: HookFile, hook: string, path: string, identity: string): EarlierHook {
  const shell = looksAtItsName(file.content) ? shellOf(file.content) : null;
  const mayCallItself = shell !== null || codeLines(file.content).some((line) => line.includes(`/${hook}`));
  return { path, identity, shell, mayCallItself, sign: signOf(file.content) };
}

function looksAtItsName(content: string): boolean {
  return /\$\{?0\b/.test(content);
}

/** Splits a first line such as `#!/bin/sh -e` into words; null if it names no shell that can source another file. */
function shellOf(content: string): string[] | null {
  const line =
    /^#!\s*((?:\/usr)?(?:\/local)?\/bin\/(?:env\s+)?(?:sh|bash|dash|ksh))((?:[ \t]+-[A-Za-z]+)*)[ \t]*\r?\n/.exec(
      content,
    );
  return line ? `${line[1]}${line[2]}`.split(/\s+/) : null;
}

/** The sign of the hook's manager; without a manager, the longest line, which no other hook has by chance. */
function signOf(content: string): string | null {
  const manager = managerOf(content);
  const sign = manager && signIn(manager, content);
  if (sign) return sign;
  const longest = codeLines(content).reduce((most, line) => (line.length > most.length ? line : most), "");
  return longest.length >= 8 && longest.length <= MAX_SIGN && /^[\x20-\x7e]+$/.test(longest) ? longest : null;
}

/** Lines that are neither blank nor comments. */
function codeLines(content: string): string[] {
  const lines = content.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
