import { notifiesTheAgent } from "./notify.ts";
import { driver } from "./opencode.ts";

await notifiesTheAgent(driver);
