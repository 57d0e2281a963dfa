/** Lists the files of a directory without following links. */
import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { codeOf } from "../../base/errors.ts";
import { decodePath, onDisk } from "../../base/fs/path-bytes.ts";
import { fullMarkOf } from "../../git/index/stat-cache.ts";
import { EXECUTABLE_MODE, FILE_MODE, SYMLINK_MODE } from "../../git/objects/trees.ts";

export interface WalkedFile {
  path: string;
  mode: string;
  size: number;
  /** Changes with every detectable write to the file. */
  mark: string;
}

export interface Walked {
  files: WalkedFile[];
  /** Directories with their own `.git`; the walk does not enter them. */
  repositories: string[];
  /** Paths that can't be read, and why. */
  blocked: BlockedPath[];
}

/** `code`: of the system's error. */
export type BlockedPath = { path: string; kind: "mounted" } | { path: string; kind: "unreadable"; code: string };

/** Omits paths in `skip` and everything below them. `.git` at the root belongs to git. */
export function walk(root: string, skip: ReadonlySet<string>): Walked {
  const found: Walked = { files: [], repositories: [], blocked: [] };
  const { dev } = lstatSync(root, { bigint: true });
  const waiting = [""];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    const names = namesAt(root, directory, found);
    if (directory !== "" && names.includes(".git")) {
      found.repositories.push(directory);
      continue;
    }
    for (const name of names) {
      const path = directory === "" ? name : `${directory}/${name}`;
      if (path === ".git" || skip.has(path)) continue;
      const stat = lstatSync(onDisk(root, path), { bigint: true, throwIfNoEntry: false });
      if (!stat) continue;
      if (stat.isDirectory()) {
        if (stat.dev === dev) waiting.push(path);
        else found.blocked.push({ path, kind: "mounted" });
      } else if (stat.isFile() || stat.isSymbolicLink()) {
        found.files.push({ path, mode: modeOf(stat), size: Number(stat.size), mark: fullMarkOf(stat) });
      }
      // Pipes and sockets contain no bytes.
    }
  }
  return found;
}

function namesAt(root: string, directory: string, found: Walked): string[] {
  try {
    return readdirSync(onDisk(root, directory === "" ? "." : directory), { encoding: "buffer" }).map(decodePath);
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    if (code !== "ENOENT") found.blocked.push({ path: directory || ".", kind: "unreadable", code });
    return [];
  }
}

function modeOf(stat: BigIntStats): string {
  if (stat.isSymbolicLink()) return SYMLINK_MODE;
  return (Number(stat.mode) & 0o100) === 0 ? FILE_MODE : EXECUTABLE_MODE;
}
