/**
 * Manages the mark in a plain directory of ours: the owner's id and the directory's inode. A user's directory can't
 * have it by chance, and a copy of ours has another inode.
 */
import { lstatSync, readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Throws if the file exists. */
export function createMark(directory: string, name: string, id: string): void {
  writeFileSync(join(directory, name), contentOf(directory, id), { flag: "wx", mode: 0o600 });
}

export function isMarked(directory: string, name: string, id: string): boolean {
  try {
    const file = join(directory, name);
    const isPlain = lstatSync(directory).isDirectory() && lstatSync(file).isFile();
    return isPlain && readFileSync(file, "utf8") === contentOf(directory, id);
  } catch {
    return false;
  }
}

/** Removes a directory that a killed process left empty or with a partial mark. Anything else stays. */
export function removeUnmarked(directory: string, name: string, id: string): void {
  try {
    const names = readdirSync(directory);
    const isHalf =
      names.length === 1 && names[0] === name && isHalfMark(join(directory, name), contentOf(directory, id));
    if (isHalf) unlinkSync(join(directory, name));
    if (isHalf || names.length === 0) rmdirSync(directory);
  } catch {
    // The directory was never created, or is not ours.
  }
}

function isHalfMark(file: string, whole: string): boolean {
  return lstatSync(file).isFile() && whole.startsWith(readFileSync(file, "utf8"));
}

function contentOf(directory: string, id: string): string {
  return `${id} ${lstatSync(directory, { bigint: true }).ino}\n`;
}
