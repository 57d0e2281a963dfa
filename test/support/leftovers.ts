/** Everything that a repository and a home hold, searched for words: files as they are, what they compress, git's objects. */
import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Which of the words are somewhere below the directory. Objects of any repository in it count, reachable or not. */
export function wordsBelow(directory: string, words: readonly string[]): string[] {
  const found = new Set<string>();
  const look = (data: Buffer) => {
    for (const word of words) if (data.includes(word)) found.add(word);
  };
  for (const file of filesBelow(directory)) {
    const data = readFileSync(file);
    look(data);
    if (file.endsWith(".z")) look(Buffer.from(Bun.inflateSync(data, { windowBits: 15 })));
  }
  for (const git of repositoriesBelow(directory)) look(objectsOf(git));
  return words.filter((word) => found.has(word));
}

/** Every object that a repository has. */
export function objectsOf(gitDir: string): Buffer {
  const args = ["--git-dir", gitDir, "cat-file", "--batch-all-objects", "--batch", "--unordered"];
  return execFileSync("git", args, { maxBuffer: 256 * 1024 * 1024 });
}

function filesBelow(path: string): string[] {
  if (!lstatSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}

function repositoriesBelow(path: string): string[] {
  const names = readdirSync(path, { withFileTypes: true });
  const isRepository = ["HEAD", "objects", "refs"].every((wanted) => names.some(({ name }) => name === wanted));
  const below = names.filter((entry) => entry.isDirectory()).flatMap(({ name }) => repositoriesBelow(join(path, name)));
  return isRepository ? [path, ...below] : below;
}
