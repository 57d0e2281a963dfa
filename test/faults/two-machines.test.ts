/** A sample of what `npm run faults` does for longer. */
import { test } from "bun:test";
import { Random } from "../fuzz/random.ts";
import { TwoMachines } from "./two-machines.ts";

const ROUNDS = 4;

test("two machines that sync at once, each killed at random: both have everything in the end", async () => {
  const seed = Math.trunc(Math.random() * 2 ** 31);
  using two = await TwoMachines.updateFromEvent(new Random(seed));
  try {
    for (let n = 0; n < ROUNDS; n++) await two.round();
    await two.settle();
  } catch (error) {
    throw new Error(`With the seed ${seed}: ${error instanceof Error ? error.message : error}`);
  }
}, 60_000);
