/** Whether this machine is quiet enough for its numbers to be published. */
import { writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { spreadOf } from "./statistics.ts";

/** Of its cores: processes that wait for one make every number worthless. */
const BUSY = 0.5;
/** Usually some 0.02 ms. A file system that lost many files in the last half minute takes fifty times as long. */
const SLOW_CREATION_MS = 0.1;
const PROBES = 60;

/** The problem, in a sentence; null if the machine is quiet. */
export function noiseAt(place: string): string | null {
  const load = loadavg()[0] ?? 0;
  if (load > BUSY * availableParallelism()) return `This machine is busy (load ${load.toFixed(1)}).`;
  const creation = spreadOf(Array.from({ length: PROBES }, (_, i) => creationTime(join(place, `probe-${i}`)))).median;
  if (creation > SLOW_CREATION_MS) return `Making a file takes ${creation.toFixed(2)} ms here, which is slow.`;
  return null;
}

function creationTime(path: string): number {
  const began = performance.now();
  writeFileSync(path, "", { flag: "wx" });
  return performance.now() - began;
}
