/** Headless runs with the real Pi. */
import { pi, piAvailability, startPi } from "./pi.ts";
import { tellRuns } from "./run-story.ts";
import { toolUse } from "./server/scenario.ts";

tellRuns(pi, await piAvailability(), {
  id: "pi",
  name: "pi",
  write: (path, content) => toolUse("write", { path, content }),
  start: startPi,
  // It ends with success all the same.
  refusal: /pi failed: .*this is not possible/,
});
