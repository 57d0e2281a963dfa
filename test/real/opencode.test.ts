/** The whole of Backtrail with the real OpenCode, without a terminal. */
import { expect } from "bun:test";
import { testHeadless } from "./headless-story.ts";
import { driver } from "./opencode.ts";
import { toolUse } from "./server/scenario.ts";

await testHeadless(driver, {
  adds: "the plugin",
  settings: { path: ".opencode/plugin/backtrail.js", hook: "turn-start" },
  subagent: {
    begin: (prompt) => toolUse("task", { description: "Write the helper", prompt, subagent_type: "general" }),
  },
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses write",
    "assistant uses read",
    expect.stringMatching(/^result: Wrote file/),
    expect.stringMatching(/^result: /),
    "assistant: Two more things.",
    "assistant uses edit",
    "assistant uses bash",
    expect.stringMatching(/^result: Edit applied/),
    expect.stringMatching(/^result: /),
  ],
  sessionId: /^ses_[0-9a-f]{12}\w{14}$/,
  command: ({ transcript, session }) => `opencode import ${transcript} && opencode -s ${session}`,
});
