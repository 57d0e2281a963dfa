/** Inspects the current work tree without following links. */
import { lstatSync, readdirSync } from "node:fs";
import { isAbsence } from "../../base/errors.ts";
import { decodePath, onDisk } from "../../base/fs/path-bytes.ts";
import type { PathType, WorkTreeView } from "./files.ts";

export function workTreeView(root: string): WorkTreeView {
  const seen = new Map<string, PathType>();
  const at = (path: string): PathType => {
    const known = seen.get(path);
    if (known) return known;
    const standing = pathTypeAt(root, path);
    seen.set(path, standing);
    return standing;
  };
  return { at, below: (path) => filesBelow(root, path), hasOtherName: (path) => hasOtherName(root, path) };
}

/** Compares the path with the names that the directories list. */
function hasOtherName(root: string, path: string): boolean {
  let directory = "";
  for (const name of path.split("/")) {
    const below = directory === "" ? name : `${directory}/${name}`;
    if (pathTypeAt(root, below) === "nothing") return false;
    try {
      const names = readdirSync(directory === "" ? root : onDisk(root, directory), { encoding: "buffer" });
      if (!names.some((known) => decodePath(known) === name)) return true;
    } catch {
      // An unlistable directory gives no answer.
      return false;
    }
    directory = below;
  }
  return false;
}

export function pathTypeAt(root: string, path: string): PathType {
  try {
    const stat = lstatSync(onDisk(root, path), { throwIfNoEntry: false });
    if (!stat) return "nothing";
    if (stat.isSymbolicLink()) return "symlink";
    if (stat.isDirectory()) return "directory";
    return stat.isFile() ? "file" : "other";
  } catch (error) {
    return isAbsence(error) ? "nothing" : "other";
  }
}

/** All non-directories below a directory; undefined if any part can't be listed. */
function filesBelow(root: string, path: string): string[] | undefined {
  const found: string[] = [];
  const waiting = [path];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    try {
      for (const name of readdirSync(onDisk(root, directory), { encoding: "buffer" })) {
        const inner = `${directory}/${decodePath(name)}`;
        if (pathTypeAt(root, inner) === "directory") waiting.push(inner);
        else found.push(inner);
      }
    } catch {
      return undefined;
    }
  }
  return found;
}
