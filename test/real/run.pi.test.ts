/** Headless runs with the real Pi. */
import { driver } from "./pi.ts";
import { testRuns } from "./run-story.ts";

await testRuns(driver, {
  name: "pi",
  // It ends with success all the same.
  refusal: /pi failed: .*this is not possible/,
});
