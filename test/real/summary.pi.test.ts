/** A summary by the real Pi. */
import { driver } from "./pi.ts";
import { testSummary } from "./summary-story.ts";

await testSummary(driver, "pi");
