/** Headless runs with the real OpenCode. */
import { teller } from "./opencode.ts";
import { tellRuns } from "./run-story.ts";

await tellRuns(teller, {
  name: "opencode",
  refusal: /opencode ended with status 1: .*this is not possible/,
});
