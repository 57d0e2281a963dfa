/** A summary by the real Pi. */
import { teller } from "./pi.ts";
import { tellSummary } from "./summary-story.ts";

await tellSummary(teller, "pi");
