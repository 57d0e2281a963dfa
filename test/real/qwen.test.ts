/** The whole of Backtrail with the real Qwen Code, without a terminal. Nothing but a profile describes it. */
import { expect } from "bun:test";
import { join } from "node:path";
import { testHeadless } from "./headless-story.ts";
import { chatsOf, driver } from "./qwen.ts";
import { answering, reply } from "./server/scenario.ts";

await testHeadless(driver, {
  adds: "hooks",
  settings: {
    path: ".qwen/settings.json",
    hook: "user-prompt-submit",
    users: '{\n\t// Mine\n\t"$version": 4,\n\t"ui": { "hideTips": true }}',
  },
  // The notice of a restore is a message of its own, and quotes the prompt that was undone.
  asides: [answering(/user-prompt-submit-context/, reply("I have read it."))],
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses write_file",
    "assistant uses read_file",
    expect.stringMatching(/^result: Successfully created/),
    expect.stringMatching(/^result: alpha/),
    "assistant: Two more things.",
    "assistant uses edit",
    "assistant uses run_shell_command",
    expect.stringMatching(/^result: /),
    expect.stringMatching(/^result: /),
  ],
  transcript: (rig, session) => join(chatsOf(rig), `${session}.jsonl`),
  command: ({ session }) => `qwen --resume ${session}`,
});
