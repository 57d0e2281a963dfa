/** Kilo in a terminal. */
import { driver, leaveKilo, openByShell } from "./kilo.ts";
import { terminalPage } from "./opencode-pages.ts";
import { testInTerminal } from "./terminal-story.ts";

await testInTerminal(driver, terminalPage("kilo", openByShell, leaveKilo));
