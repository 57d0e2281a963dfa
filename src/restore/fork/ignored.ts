/** Files that git ignores, and that no step holds: those of one work tree that another does not have just so. */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { decodePath, onDisk } from "../../base/path-bytes.ts";
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
  const paths: string[] = [];
  for (let start = 0; start < stdout.length; ) {
    const end = stdout.indexOf(0, start);
    paths.push(decodePath(stdout.subarray(start, end)));
    start = end + 1;
  }
  return paths.filter((path) => !isSame(workspace.root, other, path.replace(/\/$/, "")));
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
