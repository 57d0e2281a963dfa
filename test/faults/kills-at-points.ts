/** A sample of `npm run faults` for `npm test`: rows killed at about a dozen of their fault points. Random moments are the long suite's. */
import { expect, test } from "bun:test";
import type { Operation } from "./operations/operation.ts";
import { Scene } from "./scene.ts";

const POINTS = 14;

export function killAtPoints(operations: readonly Operation[]): void {
  for (const operation of operations) {
    test(`${operation.name}: killed, and nothing is lost`, async () => {
      using scene = await Scene.set(operation);
      const every = Math.ceil(operation.points.length / POINTS);
      for (const point of operation.points.filter((_, n) => n % every === 0))
        expect([point, await scene.killAt(point)]).toEqual([point, "killed"]);
    }, 120_000);
  }
}
