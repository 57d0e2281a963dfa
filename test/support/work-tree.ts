/** Changes to a work tree as a person or an agent makes them, and what git itself makes of the result. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../../src/base/digest.ts";
import { decodePath, onDisk } from "../../src/base/fs/path-bytes.ts";
import { TemporaryDirectory } from "./directory.ts";
import type { TemporaryRepository } from "./repository.ts";

/** Writes a file at a path in our own notation, whatever stood in its way. */
export function put(root: string, path: string, content: string | Uint8Array, mode = 0o644): void {
  const place = clear(root, path);
  writeFileSync(place, content, { mode });
}

export function putLink(root: string, path: string, target: string): void {
  symlinkSync(target, clear(root, path));
}

export function take(root: string, path: string): void {
  const above = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  if (existsSync(onDisk(root, above)) && statSync(onDisk(root, above)).isDirectory())
    rmSync(onDisk(root, path), { recursive: true, force: true });
}

function clear(root: string, path: string): string | Buffer {
  const parts = path.split("/");
  for (let i = 1; i < parts.length; i++) {
    const above = onDisk(root, parts.slice(0, i).join("/"));
    if (lstatSync(above, { throwIfNoEntry: false })?.isDirectory()) continue;
    rmSync(above, { force: true });
    mkdirSync(above);
  }
  const place = onDisk(root, path);
  rmSync(place, { recursive: true, force: true });
  return place;
}

/** The trees that git makes of a copy of the index: as it is, and after `git add --all`. Objects go elsewhere. */
export function treesByGit(
  repository: TemporaryRepository,
  options: { cwd?: string; gitDir?: string } = {},
): { index: string | null; work: string } {
  using place = new TemporaryDirectory();
  const cwd = options.cwd ?? repository.path;
  const gitDir = options.gitDir ?? join(cwd, ".git");
  const common = existsSync(join(gitDir, "commondir"))
    ? join(gitDir, readFileSync(join(gitDir, "commondir"), "utf8").trim())
    : gitDir;
  const index = place.at("index");
  if (existsSync(join(gitDir, "index"))) {
    copyFileSync(join(gitDir, "index"), index);
    const { atime, mtime } = statSync(join(gitDir, "index"));
    utimesSync(index, atime, Math.floor(mtime.getTime() / 1000));
  }
  mkdirSync(place.at("objects"));
  const env = repository.environment({
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: place.at("objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(common, "objects"),
  });
  const git = (...args: string[]) => execFileSync("git", args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const tree = () => git("write-tree").toString().trim();
  let staged: string | null = null;
  try {
    staged = tree();
  } catch {
    // Conflicts cannot be written as a tree.
  }
  git("-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false", "add", "--all");
  return { index: staged, work: tree() };
}

/** Everything of the user's, in files and in git's own: equal before and after means untouched. */
export function fingerprint(root: string): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (directory: string) => {
    const names = readdirSync(onDisk(root, directory || "."), { encoding: "buffer" });
    for (const name of names) {
      const path = directory === "" ? decodePath(name) : `${directory}/${decodePath(name)}`;
      if (path === ".git/objects" || path === ".git/backtrail" || path === ".git/refs/backtrail") continue;
      const place = onDisk(root, path);
      const stat = lstatSync(place, { bigint: true });
      if (stat.isDirectory()) {
        // The store's own directory is made in these two.
        const own = path === ".git" || path === ".git/refs";
        found.set(path, own ? "directory" : `directory ${stat.mode} ${stat.mtimeNs}`);
        walk(path);
      } else {
        const content = stat.isSymbolicLink() ? readlinkSync(place, { encoding: "buffer" }) : readFileSync(place);
        // Whoever reads a split index touches its shared part, git itself included.
        const time = path.startsWith(".git/sharedindex.") ? "" : stat.mtimeNs;
        found.set(path, `${stat.mode} ${time} ${stat.ino} ${hexDigest("sha1", content)}`);
      }
    }
  };
  walk("");
  return found;
}
