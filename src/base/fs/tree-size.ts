/** Measures the size of a file or directory without following links. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "./files.ts";

/** Size in bytes; 0 if the path does not exist. */
export function sizeOnDisk(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.size ?? 0;
  return namesIn(path).reduce((sum, name) => sum + sizeOnDisk(join(path, name)), 0);
}
