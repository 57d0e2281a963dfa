/** A sample of `npm run faults`: each operation killed at a few of its fault points and at a random moment. */
import { expect, test } from "bun:test";
import { Random } from "../fuzz/random.ts";
import { Scene } from "./kills.ts";
import { OPERATIONS } from "./operations.ts";

const POINTS = 2;

for (const [i, operation] of OPERATIONS.entries()) {
  test(`${operation.name}: killed, and nothing is lost`, async () => {
    const random = new Random(Number(process.env["BACKTRAIL_SEED"] ?? i + 1));
    using scene = await Scene.set(operation);
    const points = operation.points.filter((_, n) => n % Math.ceil(operation.points.length / POINTS) === 0);
    for (const point of points) expect([point, await scene.killAt(point)]).toEqual([point, "killed"]);
    await scene.killAfter(random.below(1_000) / 1_000);
  });
}
