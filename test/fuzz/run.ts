/** Runs one target with so many inputs of a seed, and stops at the first that breaks an invariant. */
import { writeFileSync } from "node:fs";
import { messageOf } from "../../src/base/errors.ts";
import { Random } from "./random.ts";
import { demand, demandCleanPrototypes, type OpenTarget, type Target } from "./target.ts";

/** Far more than any input needs; what takes longer grows faster than its input. */
const MAX_MS = 30_000;
const MAX_MEMORY = 2 ** 31;

export interface Tried {
  target: string;
  cases: number;
  slowestMs: number;
  failure: { input: Uint8Array; seed: number; message: string } | null;
}

/** Each case has a seed of its own, so that one can be told and repeated alone. */
export async function tryTarget(target: Target, seed: number, cases: number, doing?: string): Promise<Tried> {
  const open = await target.open();
  const tried: Tried = { target: target.name, cases: 0, slowestMs: 0, failure: null };
  try {
    for (let i = 0; i < cases && !tried.failure; i++) {
      const input = open.input(new Random(seed * 1_000_003 + i));
      // Whatever hangs or kills this process leaves its input behind.
      if (doing !== undefined) writeFileSync(doing, input);
      const began = performance.now();
      try {
        await tryInput(open, input);
      } catch (error) {
        tried.failure = { input, seed: seed * 1_000_003 + i, message: messageOf(error) };
      }
      tried.slowestMs = Math.max(tried.slowestMs, performance.now() - began);
      tried.cases++;
    }
    return tried;
  } finally {
    open.close?.();
  }
}

export async function tryInput(open: OpenTarget, input: Uint8Array): Promise<void> {
  const began = performance.now();
  await open.run(input);
  const took = performance.now() - began;
  demand(took < MAX_MS, `It took ${Math.round(took)} ms.`);
  demandCleanPrototypes();
  demand(process.memoryUsage().rss < MAX_MEMORY, "It took more than two gigabytes.");
}
