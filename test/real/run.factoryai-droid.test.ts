/** Headless runs with the real Factory Droid. */
import { MODEL, teller } from "./factoryai-droid.ts";
import { tellRuns } from "./run-story.ts";

await tellRuns(teller, {
  name: "droid",
  args: () => ["--model", MODEL],
  refusal: /droid ended with status 1: .*this is not possible/,
});
