/** Headless runs with the real Claude Code. */
import { teller } from "./claude-code.ts";
import { tellRuns } from "./run-story.ts";

await tellRuns(teller, {
  name: "claude",
  refusal: /claude ended with status 1: API Error: 400 this is not possible/,
});
