/** Links or copies ignored paths that a copy of the work tree needs and no step holds, such as node_modules. */

import { cpSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { refuseLinks } from "../../base/fs/guarded-files.ts";
import { safeStat } from "../apply/move.ts";
import { ForkError } from "../fork/problems.ts";
import { removeWhole } from "./removal.ts";

/** Paths relative to the root of the work tree. */
export interface PathsToBring {
  link: readonly string[];
  copy: readonly string[];
}

/** Repeatable after a kill. Keeps paths that the copy already has. */
export function bringOver(root: string, destination: string, { link, copy }: PathsToBring): void {
  for (const [paths, put] of [
    [link, linkTo],
    [copy, copyTo],
  ] as const) {
    for (const path of paths) {
      const source = requireSource(root, path);
      const place = join(destination, path);
      if (safeStat(place)) continue;
      refuseLinks(destination, place);
      mkdirSync(dirname(place), { recursive: true });
      put(source, destination, path);
    }
  }
}

/** Returns the absolute path; throws if it does not exist. */
export function requireSource(root: string, path: string): string {
  const source = join(root, path);
  if (safeStat(source)) return source;
  throw new ForkError("usage", { kind: "path-missing", path });
}

function linkTo(source: string, destination: string, path: string): void {
  symlinkSync(source, join(destination, path));
}

/** Copies to a temporary name first, so that a partial copy is not mistaken for a complete one after a kill. */
function copyTo(source: string, destination: string, path: string): void {
  const partial = partialOf(path);
  removeWhole(destination, partial);
  // Copy-on-write, if the file system supports it.
  cpSync(source, join(destination, partial), { recursive: true, verbatimSymlinks: true, mode: 2 });
  renameSync(join(destination, partial), join(destination, path));
}

/** The name of an incomplete copy. */
export function partialOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.backtrail-partial`);
}
