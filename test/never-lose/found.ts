/** Where a text is that the user once wrote: "in place", "staged", "in a step", "kept"; "lost" where it is nowhere. */
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TemporaryRepository } from "../support/index.ts";

export type Whereabouts = "in place" | "staged" | "in a step" | "kept" | "lost";

/** `said` is what commands printed: only a directory that they name counts as kept. */
export function whereIs(repository: TemporaryRepository, text: string, said: string): Whereabouts {
  if (isBelow(repository.path, text)) return "in place";
  if (isIn(repository, stagedObjects(repository), text)) return "staged";
  if (isIn(repository, repository.git("rev-list", "--objects", "--no-object-names", "--all"), text)) return "in a step";
  const named = [...said.matchAll(/kept in (\/[^\s"]+?)\.?(?=[\s"]|$)/g)].map((match) => match[1] ?? "");
  return named.some((directory) => existsSync(directory) && isBelow(directory, text)) ? "kept" : "lost";
}

function stagedObjects(repository: TemporaryRepository): string {
  return repository
    .git("ls-files", "--stage")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .join("\n");
}

function isIn(repository: TemporaryRepository, objects: string, text: string): boolean {
  const options = { cwd: repository.path, env: repository.environment(), input: `${objects}\n`, maxBuffer: 1 << 28 };
  return execFileSync("git", ["cat-file", "--batch"], options).includes(text);
}

function isBelow(directory: string, text: string): boolean {
  return readdirSync(directory).some((name) => {
    const path = join(directory, name);
    if (name === ".git") return false;
    const stat = lstatSync(path);
    if (stat.isDirectory()) return isBelow(path, text);
    return stat.isFile() && readFileSync(path).includes(text);
  });
}
