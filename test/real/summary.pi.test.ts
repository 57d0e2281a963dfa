/** A summary by the real Pi. */
import { pi, piAvailability, startPi } from "./pi.ts";
import { toolUse } from "./server/scenario.ts";
import { tellSummary } from "./summary-story.ts";

tellSummary(pi, await piAvailability(), {
  id: "pi",
  name: "pi",
  write: (path, content) => toolUse("write", { path, content }),
  start: startPi,
});
