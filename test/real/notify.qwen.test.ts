import { notifiesTheAgent } from "./notify.ts";
import { driver } from "./qwen.ts";

await notifiesTheAgent(driver);
