/** The whole of Backtrail with the real Kilo, without a terminal. Nothing but a profile describes it. */
import { testHeadless } from "./headless-story.ts";
import { driver } from "./kilo.ts";
import { headlessPage } from "./opencode-pages.ts";

await testHeadless(driver, headlessPage("kilo"));
