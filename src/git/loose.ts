/** Reads a loose object without starting git; most of what a hook needs was written moments ago and is loose. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inflate } from "../base/digest.ts";
import type { GitObject } from "./reader.ts";

/** Undefined where the object is not loose (packed, in an alternate, missing) or cannot be read. */
export function readLoose(commonDir: string, id: string): GitObject | undefined {
  const file = join(commonDir, "objects", id.slice(0, 2), id.slice(2));
  // Asked first: most that are read in large numbers are packed, and an error costs several times as much as an answer.
  if (!existsSync(file)) return undefined;
  try {
    const content = inflate(readFileSync(file));
    const nul = content.indexOf(0);
    const [type = "", size] = content.toString("latin1", 0, nul).split(" ");
    const data = content.subarray(nul + 1);
    return data.length === Number(size) ? { id, type, data } : undefined;
  } catch {
    return undefined;
  }
}
