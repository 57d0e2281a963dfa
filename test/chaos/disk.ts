/** A disk that is full, or has become read-only, while one command runs. */
import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { World } from "./world.ts";

const ROOM_LEFT = 16 * 1024;

export async function withDisk<T>(
  world: World,
  trouble: "full" | "read-only" | undefined,
  run: () => Promise<T>,
): Promise<T> {
  const disk = world.smallDisk;
  if (!disk || !trouble) return run();
  const filler = join(disk, "filler");
  if (trouble === "full") fill(filler);
  else execFileSync("mount", ["-o", "remount,ro", disk]);
  try {
    return await run();
  } finally {
    if (trouble === "full") rmSync(filler, { force: true });
    else execFileSync("mount", ["-o", "remount,rw", disk]);
  }
}

function fill(path: string): void {
  const file = openSync(path, "w");
  const page = Buffer.alloc(65_536);
  let size = 0;
  try {
    for (let wrote = page.length; wrote === page.length; size += wrote) wrote = writeSync(file, page);
  } catch {
    // Full, as it should be.
  }
  ftruncateSync(file, Math.max(0, size - ROOM_LEFT));
  closeSync(file);
}
