import { driver } from "./claude-code.ts";
import { notifiesTheAgent } from "./notify.ts";

await notifiesTheAgent(driver);
