import { driver } from "./gemini.ts";
import { notifiesTheAgent } from "./notify.ts";

await notifiesTheAgent(driver);
