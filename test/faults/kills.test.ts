/** A sample of `npm run faults`: each operation killed at some of its fault points. Random moments are the long suite's. */
import { expect, test } from "bun:test";
import { Scene } from "./kills.ts";
import { OPERATIONS } from "./operations.ts";

const POINTS = 4;

for (const operation of OPERATIONS) {
  test(`${operation.name}: killed, and nothing is lost`, async () => {
    using scene = await Scene.set(operation);
    const points = operation.points.filter((_, n) => n % Math.ceil(operation.points.length / POINTS) === 0);
    for (const point of points) expect([point, await scene.killAt(point)]).toEqual([point, "killed"]);
  });
}
