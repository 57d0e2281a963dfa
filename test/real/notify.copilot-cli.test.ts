import { driver } from "./copilot-cli.ts";
import { notifiesTheAgent } from "./notify.ts";

await notifiesTheAgent(driver);
