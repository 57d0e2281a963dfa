/** Headless runs with the real Factory AI Droid. */
import { driver, MODEL } from "./factoryai-droid.ts";
import { testRuns } from "./run-story.ts";

await testRuns(driver, {
  name: "droid",
  args: () => ["--model", MODEL],
  refusal: /droid ended with status 1: .*this is not possible/,
});
