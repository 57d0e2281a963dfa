/** A bounded sample of the fuzzer with a fixed seed, and everything that it ever found. `npm run fuzz` tries more. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { tryInput, tryTarget } from "./run.ts";
import { TARGETS } from "./targets/index.ts";

const SEED = 7;
const CASES = 400;
const corpus = join(import.meta.dirname, "corpus");

for (const target of TARGETS) {
  describe(target.name, () => {
    test(`stands a sample`, async () => {
      const { failure } = await tryTarget(target, SEED, Math.max(4, Math.ceil(CASES / target.cost)));
      expect(failure && `seed ${failure.seed}: ${failure.message}`).toBeNull();
    });

    test("survives the inputs that were found before", async () => {
      const names = namesIn(join(corpus, target.name));
      if (names.length === 0) return;
      const open = await target.open();
      try {
        for (const name of names) {
          const input = expanded(readFileSync(join(corpus, target.name, name), "utf8"));
          await tryInput(open, input).catch((error: Error) => {
            throw new Error(`${target.name}/${name}: ${error.message}`);
          });
        }
      } finally {
        open.close?.();
      }
    });
  });
}

function expanded(text: string): Buffer {
  return Buffer.from(text.replace(/\{\{(.)\*(\d+)\}\}/g, (_, character, count) => character.repeat(Number(count))));
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}
