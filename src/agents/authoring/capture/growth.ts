/** Finds the files that an agent writes: looks below likely directories before and after, and compares. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { entriesIn } from "../../../base/fs/files.ts";
import { configDirectory, dataDirectory } from "../../../base/paths.ts";

/** Directories in the home directory that hold no conversations, or too much else. */
const SKIPPED = new Set([
  ".cache",
  ".npm",
  ".bun",
  ".cargo",
  ".rustup",
  ".nvm",
  ".pyenv",
  ".gradle",
  ".m2",
  ".docker",
  ".ssh",
  ".gnupg",
  ".git",
  ".vscode-server",
  "node_modules",
  "backtrail",
  "Trash",
  "containers",
]);
const MAX_DEPTH = 8;
const MAX_FILES = 20_000;
const ENDINGS = /\.jsonl?$/;

export type Sizes = Map<string, { size: number; mtimeMs: number }>;

/** Where agents keep their files: hidden directories of the home directory, the XDG directories, and those given. */
export function likelyDirectories(home: string, cwd: string, more: readonly string[]): string[] {
  const hidden = directoriesIn(home).filter((name) => name.startsWith(".") && !SKIPPED.has(name));
  const own = hidden.filter((name) => name !== ".config" && name !== ".local").map((name) => join(home, name));
  const shared = [".config", ".local/share", ".local/state"].map((name) => join(home, name));
  const inProject = directoriesIn(cwd)
    .filter((name) => name.startsWith(".") && !SKIPPED.has(name))
    .map((name) => join(cwd, name));
  // What the user names comes first, because the number of files is limited.
  return [...new Set([...more, ...own, ...inProject, ...shared])];
}

/** The sizes of all JSON files there. */
export function sizesIn(directories: readonly string[]): Sizes {
  const sizes: Sizes = new Map();
  // Our own files grow while we record.
  const own = new Set([dataDirectory(), configDirectory()]);
  for (const directory of directories) look(directory, 0, sizes, own);
  return sizes;
}

/** Files with content that are new or whose size or time is different. */
export function changed(before: Sizes, after: Sizes): string[] {
  return [...after.keys()].filter((path) => {
    const old = before.get(path);
    const { size, mtimeMs } = after.get(path) ?? { size: 0, mtimeMs: 0 };
    return size > 0 && (old === undefined || old.size !== size || old.mtimeMs !== mtimeMs);
  });
}

/** Reads a whole file. Undefined if the file is gone, is not a regular file, or is too large. */
export function readIfSmall(path: string, maxBytes: number): Buffer | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat?.isFile() || stat.size === 0 || stat.size > maxBytes) return undefined;
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function look(directory: string, depth: number, sizes: Sizes, own: ReadonlySet<string>): void {
  if (depth > MAX_DEPTH || sizes.size >= MAX_FILES || own.has(directory)) return;
  for (const entry of entriesIn(directory)) {
    const path = join(directory, entry.name);
    // Links are not followed.
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) look(path, depth + 1, sizes, own);
    else if (entry.isFile() && ENDINGS.test(entry.name) && sizes.size < MAX_FILES) {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat) sizes.set(path, { size: stat.size, mtimeMs: stat.mtimeMs });
    }
  }
}

function directoriesIn(directory: string): string[] {
  return entriesIn(directory)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
