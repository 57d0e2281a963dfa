/** Headless runs with the real Pi. */
import { teller } from "./pi.ts";
import { tellRuns } from "./run-story.ts";

await tellRuns(teller, {
  name: "pi",
  // It ends with success all the same.
  refusal: /pi failed: .*this is not possible/,
});
