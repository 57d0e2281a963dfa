/** Headless runs with the real Gemini CLI. */
import { teller } from "./gemini.ts";
import { tellRuns } from "./run-story.ts";

await tellRuns(teller, {
  name: "gemini",
  refusal: /gemini ended with status 144: .*this is not possible/,
});
