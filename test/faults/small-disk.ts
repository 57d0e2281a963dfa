/** A small file system of its own for a repository's git directory, to be filled or made read-only. Needs root, on Linux. */
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, closeSync, openSync, rmSync, writeSync } from "node:fs";
import { type TemporaryRepository, temporaryDirectory } from "../support/index.ts";

/** Moves the git directory of a repository onto a file system of eight megabytes. */
export function smallDisk(repository: TemporaryRepository) {
  const git = repository.at(".git");
  const aside = `${git}-aside`;
  execFileSync("mv", [git, aside]);
  execFileSync("mkdir", [git]);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m,mode=755", "tmpfs", git]);
  execFileSync("cp", ["-a", `${aside}/.`, git]);
  rmSync(aside, { recursive: true });
  const filler = `${git}/filler`;
  return {
    /** Takes all room but so many bytes. */
    fill(left: number): void {
      const fd = openSync(filler, "w");
      try {
        const page = Buffer.alloc(4096);
        while (writeSync(fd, page) === page.length);
      } catch {
        // Full, as it should be.
      } finally {
        closeSync(fd);
      }
      const size = Bun.file(filler).size;
      execFileSync("truncate", ["-s", String(Math.max(0, size - left)), filler]);
    },
    empty(): void {
      rmSync(filler, { force: true });
    },
    writable(may: boolean): void {
      execFileSync("mount", ["-o", `remount,${may ? "rw" : "ro"}`, git]);
    },
    [Symbol.dispose](): void {
      execFileSync("umount", ["-l", git]);
    },
  };
}

export function mayMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  using place = temporaryDirectory();
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", place.path]).status !== 0) return false;
  try {
    appendFileSync(place.at("probe"), "");
    return true;
  } finally {
    spawnSync("umount", ["-l", place.path]);
  }
}
