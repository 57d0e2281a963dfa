/** The work tree as it stands now, looked at without following a link. */
import { lstatSync, readdirSync } from "node:fs";
import { isAbsence } from "../base/errors.ts";
import { decodePath, onDisk } from "../base/path-bytes.ts";
import type { Ground, Standing } from "./plan.ts";

export function groundAt(root: string): Ground {
  const seen = new Map<string, Standing>();
  const at = (path: string): Standing => {
    const known = seen.get(path);
    if (known) return known;
    const standing = standingAt(root, path);
    seen.set(path, standing);
    return standing;
  };
  return { at, below: (path) => filesBelow(root, path) };
}

export function standingAt(root: string, path: string): Standing {
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

/** Everything below a directory that is no directory; undefined where a part of it can't be listed. */
export function filesBelow(root: string, path: string): string[] | undefined {
  const found: string[] = [];
  const waiting = [path];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    try {
      for (const name of readdirSync(onDisk(root, directory), { encoding: "buffer" })) {
        const inner = `${directory}/${decodePath(name)}`;
        if (standingAt(root, inner) === "directory") waiting.push(inner);
        else found.push(inner);
      }
    } catch {
      return undefined;
    }
  }
  return found;
}
