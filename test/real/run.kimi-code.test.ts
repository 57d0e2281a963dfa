/** Headless runs with the real Kimi Code, whose session is known from its hooks alone until it ends. */
import { driver } from "./kimi-code.ts";
import { testRuns } from "./run-story.ts";

await testRuns(driver, {
  name: "kimi",
  refusal: /kimi ended with status 1: See log/,
});
