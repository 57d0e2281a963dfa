import { driver } from "./kilo.ts";
import { notifiesTheAgent } from "./notify.ts";

await notifiesTheAgent(driver);
