/** The whole of Backtrail with the real OpenCode, without a terminal. */
import { testHeadless } from "./headless-story.ts";
import { driver } from "./opencode.ts";
import { headlessPage } from "./opencode-pages.ts";

await testHeadless(driver, headlessPage("opencode"));
