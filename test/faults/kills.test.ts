/** Each operation killed at every one of its fault points. Random moments are `npm run faults`. */
import { expect, test } from "bun:test";
import { OPERATIONS } from "./operations.ts";
import { Scene } from "./scene.ts";

for (const operation of OPERATIONS) {
  test(`${operation.name}: killed, and nothing is lost`, async () => {
    using scene = await Scene.set(operation);
    for (const point of operation.points) expect([point, await scene.killAt(point)]).toEqual([point, "killed"]);
  }, 60_000);
}
