/** Looks for contents outside of work trees and objects: in git directories and in the home, by name and by bytes. */
import { readFileSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { blobId } from "./content.ts";
import { entryAt, namesIn } from "./work-files.ts";
import type { World } from "./world.ts";

export interface Elsewhere {
  /** In a file whose path, or directory, Backtrail has named in what it printed. */
  named: Set<string>;
  /** By content: a file that nobody was told of. */
  unnamed: Map<string, string>;
}

export function contentsElsewhere(world: World, wanted: ReadonlySet<string>): Elsewhere {
  const found: Elsewhere = { named: new Set(), unnamed: new Map() };
  const look = (directory: string): void => {
    for (const name of namesIn(directory)) {
      const path = join(directory, name);
      const entry = entryAt(path);
      if (!entry) continue;
      if (entry.isDirectory()) {
        // Objects are looked at as git sees them.
        if (name !== "objects") look(path);
        continue;
      }
      if (!entry.isFile() && !entry.isSymbolicLink()) continue;
      const content = blobId(entry.isSymbolicLink() ? readlinkSync(path) : readFileSync(path));
      if (!wanted.has(content)) continue;
      if (isNamed(world, path)) found.named.add(content);
      else found.unnamed.set(content, path);
    }
  };
  for (const place of [world.root, ...world.stores]) look(place);
  return found;
}

/** Whether the output had this path or a directory above it, down to Backtrail's own. */
function isNamed(world: World, path: string): boolean {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    if (at === world.root || /(^|\/)(\.git|backtrail|w|p|home|worktrees|main)$/.test(at)) return false;
    const forms = [at, at.replace(world.home, "~"), at.replace(`${world.repository}/`, "")];
    if (forms.some((form) => world.said.includes(form))) return true;
  }
  return false;
}
