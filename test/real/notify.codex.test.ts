import { driver } from "./codex.ts";
import { notifiesTheAgent } from "./notify.ts";

await notifiesTheAgent(driver);
