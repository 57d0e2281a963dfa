/** The whole of Backtrail with the real Kimi Code, without a terminal. Nothing but a profile describes it. */
import { expect } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { testHeadless } from "./headless-story.ts";
import { driver, settings } from "./kimi-code.ts";
import type { Rig } from "./rig.ts";

await testHeadless(driver, {
  adds: "hooks to the user's settings",
  says: "reads hooks only from",
  settings: { path: ".kimi-code/config.toml", hook: "user-prompt-submit" },
  userSettings: (rig) => settings(rig.sandbox.url),
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses Write",
    "assistant uses Read",
    expect.stringMatching(/^result: Wrote/),
    expect.stringMatching(/^result: /),
    "assistant: Two more things.",
    "assistant uses Edit",
    "assistant uses Bash",
    expect.stringMatching(/^result: /),
    expect.stringMatching(/^result: /),
  ],
  transcript: (rig, session) => join(bucketOf(rig, session), session, "agents/main/wire.jsonl"),
  command: ({ session }) => `kimi --session ${session}`,
  sessionId: /^session_[0-9a-f-]{36}$/,
});

/** The folder of the session's project. Kimi Code keeps a cache (`.index-cache`) beside these folders. */
function bucketOf(rig: Rig, session: string): string {
  const sessions = join(rig.home, ".kimi-code/sessions");
  const bucket = readdirSync(sessions).find((name) => existsSync(join(sessions, name, session)));
  expect(bucket).toBeDefined();
  return join(sessions, bucket ?? "");
}
