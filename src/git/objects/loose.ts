/** Reads a loose object without starting git: what a hook needs was often just written and is not packed yet. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inflate } from "../../base/runtime.ts";
import type { GitObject } from "./reader.ts";

/** Returns undefined if the object is not loose (packed, in an alternate, missing) or cannot be read. */
export function readLoose(objects: string, id: string): GitObject | undefined {
  const file = join(objects, id.slice(0, 2), id.slice(2));
  // Check first: a packed object is common too, and an exception costs several times as much as the check.
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
