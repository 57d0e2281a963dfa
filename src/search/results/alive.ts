/** Counts how many of the lines that a turn added to a file are still in it. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { linesOf } from "../../attribution/line-diff.ts";
import { isInside } from "../../base/paths.ts";

const MAX_FILE = 16 << 20;

export interface Alive {
  lines: number;
  of: number;
}

/** Blank lines don't count. A line that was added twice must be there twice. */
export function aliveLines(root: string, path: string, added: string): Alive {
  const left = new Map<string, number>();
  for (const line of currentLines(root, path)) left.set(line, (left.get(line) ?? 0) + 1);
  const lines = linesOf(added).filter((line) => line.trim() !== "");
  let alive = 0;
  for (const line of lines) {
    const count = left.get(line) ?? 0;
    if (count === 0) continue;
    left.set(line, count - 1);
    alive++;
  }
  return { lines: alive, of: lines.length };
}

function currentLines(root: string, path: string): string[] {
  const file = join(root, path);
  const stat = isInside(root, file) ? statSync(file, { throwIfNoEntry: false }) : undefined;
  return stat?.isFile() && stat.size <= MAX_FILE ? linesOf(readFileSync(file, "utf8")) : [];
}
