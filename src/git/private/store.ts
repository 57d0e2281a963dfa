/**
 * Owns the private object store: `private.git` in the store directory, readable only by the user. It holds private
 * files and every tree that names one, and borrows all other objects from the user's repository. A folder without git
 * already has a private repository and needs no second one.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { makeDirectory, readText, temporaryBeside, writeFileAtomic } from "../../base/fs/files.ts";
import { type ObjectPlace, repositoryPlace } from "../objects/writer.ts";
import type { Workspace } from "../workspace.ts";

type Place = Pick<Workspace, "kind" | "storeDir" | "commonDir" | "hash">;

const OBJECT_MODE = 0o400;
/** Path from the private repository's objects/ to the user's objects/. */
const BORROWED = "../../../objects";
/** Stores that this process created, possibly after another caller checked for them. */
const made = new Set<string>();

/** The store's path, whether or not the store exists. */
export function privateGitDirectory({ storeDir }: Pick<Workspace, "storeDir">): string {
  return join(storeDir, "private.git");
}

/** The store's object directory; undefined if there is no such store. */
export function privateObjects(workspace: Place): string | undefined {
  if (workspace.kind === "private") return undefined;
  const objects = join(privateGitDirectory(workspace), "objects");
  return made.has(objects) || existsSync(objects) ? objects : undefined;
}

/** Whether this process created the store. Needs no system call. */
export function hasMadePrivateObjects(workspace: Place): boolean {
  return made.has(join(privateGitDirectory(workspace), "objects"));
}

/** The private store as a workspace, for its refs and for git commands in it. */
export function privateRepository(workspace: Workspace): Workspace {
  const directory = privateGitDirectory(workspace);
  return { ...workspace, kind: "private", gitDir: directory, commonDir: directory, refStorage: "files" };
}

/**
 * Environment for a git that only reads: it sees both stores. Never use it for a git that writes for the user (`add`,
 * `commit`, `worktree add`, the user's index): git would skip objects that it finds in the private store, and the
 * user's repository would lack them.
 */
export function readingEnvironment(workspace: Place): Record<string, string> {
  const objects = privateObjects(workspace);
  return objects === undefined ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedPath(objects) };
}

/**
 * Environment for a git that computes something for us, such as a merged tree: its output may derive from private
 * files.
 */
export function computingEnvironment(workspace: Place): Record<string, string> {
  const objects = privateObjects(workspace);
  return objects === undefined ? {} : borrowingEnvironment(workspace, objects);
}

/** Environment for a git that stores private files. Creates the store if it is missing. */
export function privateWritingEnvironment(workspace: Place): Record<string, string> {
  return borrowingEnvironment(workspace, makePrivateObjects(workspace));
}

/** The location where an ObjectWriter writes private files. */
export function privatePlace(workspace: Place): ObjectPlace {
  return () => ({ directory: makePrivateObjects(workspace), mode: OBJECT_MODE });
}

/** The location for objects derived from steps that no ref keeps: private wherever they may contain private files. */
export function scratchPlace(workspace: Place): ObjectPlace {
  return () => {
    const objects = privateObjects(workspace);
    return objects === undefined ? repositoryPlace(workspace)() : { directory: objects, mode: OBJECT_MODE };
  };
}

/**
 * Moves objects that git wrote to the separate directory `from` into the store, and removes `from`. If git wrote to the
 * store directly, it would skip objects that the repository has, and the store would depend on what is pruned there.
 */
export function adoptPrivately(workspace: Place, from: string): void {
  const objects = makePrivateObjects(workspace);
  for (const folder of readdirSync(from)) {
    if (!/^(?:pack|[0-9a-f]{2})$/.test(folder)) continue;
    mkdirSync(join(objects, folder), { recursive: true, mode: 0o700 });
    // Move a pack's index last: git ignores a pack without one.
    for (const name of readdirSync(join(from, folder)).sort((a, b) => Number(isIndex(a)) - Number(isIndex(b)))) {
      chmodSync(join(from, folder, name), OBJECT_MODE);
      renameSync(join(from, folder, name), join(objects, folder, name));
    }
  }
  rmSync(from, { recursive: true, force: true });
}

function isIndex(name: string): boolean {
  return name.endsWith(".idx");
}

/**
 * Changes before objects are dereferenced or pruned. A process that relied on earlier objects must then write them
 * again.
 */
export function pruneMark(workspace: Place): string | undefined {
  return privateObjects(workspace) === undefined ? undefined : (readText(markFile(workspace)) ?? "");
}

/**
 * Call before deleting references, and after no cache names the objects. Returns the file system's time of the change.
 */
export function changePruneMark(workspace: Place): number {
  if (privateObjects(workspace) === undefined) return 0;
  const beside = privateGitDirectory(workspace);
  writeFileAtomic(markFile(workspace), `${crypto.randomUUID()}\n`, { beside });
  return statSync(markFile(workspace)).mtimeMs;
}

/** Quotes one path of a colon-separated list. */
export function quotedPath(path: string): string {
  return `"${path.replace(/["\\]/g, "\\$&")}"`;
}

function borrowingEnvironment({ commonDir }: Place, objects: string): Record<string, string> {
  return {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quotedPath(join(commonDir, "objects")),
  };
}

/** Creates the store without git, atomically, even if several processes create it at once. */
function makePrivateObjects(workspace: Place): string {
  const directory = privateGitDirectory(workspace);
  const objects = join(directory, "objects");
  if (made.has(objects) || existsSync(objects)) return objects;
  const temporary = temporaryBeside(directory);
  makeDirectory(temporary);
  // Independent of the umask.
  chmodSync(temporary, 0o700);
  for (const name of ["objects/info", "objects/pack", "refs"])
    mkdirSync(join(temporary, name), { recursive: true, mode: 0o700 });
  const write = (name: string, text: string) => writeFileSync(join(temporary, name), text, { mode: 0o600 });
  write("HEAD", "ref: refs/heads/none\n");
  write("config", configFor(workspace.hash));
  write("objects/info/alternates", `${BORROWED}\n`);
  try {
    renameSync(temporary, directory);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
  }
  made.add(objects);
  return objects;
}

function configFor(hash: Workspace["hash"]): string {
  const lines = [
    "[core]",
    "bare = true",
    "sharedRepository = 0600",
    "logAllRefUpdates = false",
    "hooksPath = /dev/null",
  ];
  lines.push(`repositoryformatversion = ${hash === "sha256" ? 1 : 0}`);
  if (hash === "sha256") lines.push("[extensions]", "objectformat = sha256");
  lines.push("[gc]", "auto = 0", "[maintenance]", "auto = false");
  return `${lines.map((line) => (line.startsWith("[") ? line : `\t${line}`)).join("\n")}\n`;
}

function markFile(workspace: Place): string {
  return join(privateGitDirectory(workspace), "pruned");
}
