/** The whole of Backtrail with the real Kilo, without a terminal. Nothing but a profile describes it. */
import { expect } from "bun:test";
import { testHeadless } from "./headless-story.ts";
import { driver } from "./kilo.ts";
import { toolUse } from "./server/scenario.ts";

await testHeadless(driver, {
  adds: "the plugin",
  settings: { path: ".kilo/plugin/backtrail.js", hook: "turn-start" },
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
  command: ({ transcript, session }) => `kilo import ${transcript} && kilo -s ${session}`,
});
