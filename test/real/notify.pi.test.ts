import { notifiesTheAgent } from "./notify.ts";
import { driver } from "./pi.ts";

await notifiesTheAgent(driver);
