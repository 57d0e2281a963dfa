/** The kinds of worlds: where the repository's parts lie, and how it is set up. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../fuzz/random.ts";
import { text } from "./content.ts";
import type { World } from "./world.ts";

/**
 * `plain`: a repository. `elsewhere`: its git directory on another file system. `linked`: a worktree of a repository, `bare`: of
 * a bare one. `folder`: no git at all. `small`: the git directory on a file system of its own that can be filled.
 */
export type Variant = "plain" | "elsewhere" | "linked" | "bare" | "folder" | "small";

const SHARED_MEMORY = "/dev/shm";
const IGNORE_RULES = "ign/\n*.secret\n";

export function variantOf(random: Random): Variant {
  const drawn = random.below(20);
  if (drawn < 11) return "plain";
  if (drawn < 13) return "elsewhere";
  if (drawn < 15) return "linked";
  if (drawn < 16) return "bare";
  if (drawn < 18) return "folder";
  return "small";
}

/** Makes the repository with a few commits' worth of files, and turns Backtrail on. */
export function settle(world: World, random: Random): void {
  const { repository } = world;
  world.makeDirectory(repository);
  prepareGit(world);
  for (const name of ["a.txt", "b.txt", "src/c.txt", "src/d.txt"]) world.write(join(repository, name), text(random));
  world.write(join(repository, ".gitignore"), IGNORE_RULES);
  if (world.variant !== "folder") {
    world.git(repository, "add", "-A");
    world.git(repository, "commit", "-qm", "first");
    world.git(repository, "branch", "side");
  }
  if (world.variant === "small") makeSmall(world);
}

function prepareGit(world: World): void {
  const { repository, root } = world;
  switch (world.variant) {
    case "folder":
      return;
    case "elsewhere": {
      const directory = gitDirectoryElsewhere(world);
      world.git(repository, "init", "-q", "-b", "main", "--separate-git-dir", directory);
      return;
    }
    case "linked":
    case "bare": {
      const bare = world.variant === "bare";
      const other = join(root, "w", bare ? "bare.git" : "other");
      world.git(root, "init", "-q", "-b", "trunk", ...(bare ? ["--bare"] : []), other);
      const tree = world.gitFed(other, "", "hash-object", "-t", "tree", "-w", "--stdin").stdout.trim();
      const commit = world.git(other, "commit-tree", "-m", "zero", tree).stdout.trim();
      world.git(other, "update-ref", "refs/heads/trunk", commit);
      world.git(other, "worktree", "add", "-q", "-b", "main", repository, commit);
      return;
    }
    default:
      world.git(repository, "init", "-q", "-b", "main");
  }
}

function gitDirectoryElsewhere(world: World): string {
  const parent = existsSync(SHARED_MEMORY) ? SHARED_MEMORY : world.root;
  const directory = realpathSync(mkdtempSync(join(parent, "backtrail-chaos-git-")));
  world.cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  world.stores.add(join(directory, "g"));
  return join(directory, "g");
}

/** Moves the git directory onto a file system of its own, of a few megabytes. */
function makeSmall(world: World): void {
  const git = join(world.repository, ".git");
  const aside = `${git}-aside`;
  execFileSync("mv", [git, aside]);
  execFileSync("mkdir", [git]);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m,mode=755", "tmpfs", git]);
  world.cleanups.push(() => spawnSync("umount", ["-l", git]));
  execFileSync("cp", ["-a", `${aside}/.`, git]);
  rmSync(aside, { recursive: true });
  world.smallDisk = git;
  world.script.add(
    "mv .git .git-aside; mkdir .git; mount -t tmpfs -o size=24m tmpfs .git; cp -a .git-aside/. .git; rm -r .git-aside",
  );
}
