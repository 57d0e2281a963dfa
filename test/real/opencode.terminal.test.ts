/** OpenCode in a terminal. */
import { driver, leaveOpenCode, openByShell } from "./opencode.ts";
import { terminalPage } from "./opencode-pages.ts";
import { testInTerminal } from "./terminal-story.ts";

await testInTerminal(driver, terminalPage("opencode", openByShell, leaveOpenCode));
