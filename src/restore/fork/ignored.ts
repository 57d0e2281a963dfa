/** Files that git ignores, and that no step holds: those of one work tree that another does not have just so. */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { onDisk } from "../../base/path-bytes.ts";
import { pathsAtNul } from "../../git/conversion.ts";
import { gitLocation } from "../../git/location.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { groundAt } from "../ground.ts";

/** Larger ignored directories are not compared file by file. */
const MOST_COMPARED = 200;

/** A directory that is ignored as a whole is one path, with a slash at its end. */
export async function ignoredOnlyIn(workspace: Workspace, other: string): Promise<string[]> {
  const { args, cwd } = gitLocation(workspace);
  const ask = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  const { stdout } = await tryGit([...args, ...ask], { cwd });
  return pathsAtNul(stdout).filter((path) => !isSame(workspace.root, other, path.replace(/\/$/, "")));
}

function isSame(here: string, there: string, path: string): boolean {
  if (groundAt(here).at(path) !== "directory") return isSameFile(here, there, path);
  if (readdirSync(onDisk(here, path)).length > MOST_COMPARED) return false;
  const below = groundAt(here).below(path);
  return below !== undefined && below.length <= MOST_COMPARED && below.every((inner) => isSameFile(here, there, inner));
}

function isSameFile(here: string, there: string, path: string): boolean {
  const [one, other] = [onDisk(here, path), onDisk(there, path)];
  if (!lstatSync(one, { throwIfNoEntry: false })?.isFile()) return false;
  if (!lstatSync(other, { throwIfNoEntry: false })?.isFile()) return false;
  return readFileSync(one).equals(readFileSync(other));
}
