/** Headless runs with the real Kilo. */
import { driver } from "./kilo.ts";
import { testRuns } from "./run-story.ts";

await testRuns(driver, {
  name: "kilo",
  refusal: /kilo ended with status 1: .*this is not possible/,
});
