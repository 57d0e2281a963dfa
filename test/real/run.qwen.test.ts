/** Headless runs with the real Qwen Code. */
import { driver } from "./qwen.ts";
import { testRuns } from "./run-story.ts";

await testRuns(driver, {
  name: "qwen",
  refusal: /qwen ended with status 1: .*this is not possible/,
});
