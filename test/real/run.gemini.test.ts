/** Headless runs with the real Gemini CLI. */
import { driver } from "./gemini.ts";
import { testRuns } from "./run-story.ts";

await testRuns(driver, {
  name: "gemini",
  refusal: /gemini ended with status 144: .*this is not possible/,
});
