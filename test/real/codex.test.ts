/** The whole of Backtrail with the real Codex, without a terminal; and how it tells of turns where nobody reviewed hooks. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Restored } from "./backtrail.ts";
import { driver, NOTIFY, prompt, resume, SCRIPTING_MODEL, UNREVIEWED } from "./codex.ts";
import { FIRST, type Story, TIMEOUT_MS } from "./headless-page.ts";
import { testHeadless } from "./headless-story.ts";
import { toolUse } from "./server/scenario.ts";

await testHeadless(driver, {
  adds: "hooks, says that they must be reviewed",
  says: "review",
  settings: { path: ".codex/hooks.json", hook: "user-prompt-submit" },
  relative: true,
  subagent: {
    begin: (message) => toolUse("spawn_agent", { task_name: "helper", message, fork_turns: "none" }),
    wait: toolUse("wait_agent", { timeout_ms: 20_000 }),
  },
  startsWithTranscript: true,
  model: SCRIPTING_MODEL,
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses exec",
    expect.stringMatching(/^result: /),
    "assistant: Two more things.",
    "assistant uses exec",
    expect.stringMatching(/^result: /),
  ],
  command: ({ session }) => `codex resume ${session}`,
  async transcript(rig, session) {
    return (await rig.output(["find", join(rig.home, ".codex/sessions"), "-name", `*${session}.jsonl`])).trim();
  },
  own: { enabled: passesOverHooks, rewound: forksTheFork, redone: isNotified },
});

function passesOverHooks(story: Story): void {
  test(
    "hooks that nobody reviewed are passed over by Codex: nothing is recorded, nothing is circumvented",
    async () => {
      expect(await prompt(story.rig, "Hello?")).toMatchObject({ code: 0, result: "You said: Hello?" });
      expect(await story.backtrail.steps()).toEqual([]);
    },
    TIMEOUT_MS,
  );
}

function forksTheFork(story: Story): void {
  test(
    "what the fork does is recorded as a session of its own, and can be taken back as well",
    async () => {
      const { rig, backtrail } = story;
      const end = await backtrail.step("turn-end", "Where were we?");
      expect(end).toMatchObject({ turn: 1, agent: "codex" });
      expect(end.session).not.toBe(story.session);
      // A conversation that ends there already needs no copy.
      await resume(rig, end.session ?? "", "And then?", UNREVIEWED);
      const { receipt } = await backtrail.json<Restored>("rewind", end.id, "--chat-only", "--yes");
      await resume(rig, receipt?.chat?.session ?? "", "Still there?", UNREVIEWED);
      const heard = rig.received.lastOutline().filter((line) => !/^(result|assistant)/.test(line));
      expect(heard).toEqual([`user: ${FIRST}`, "user: Where were we?", "user: Still there?"]);
      // It concerned the conversation alone.
      await backtrail.json<Restored>("redo", "--yes");
    },
    TIMEOUT_MS,
  );
}

function isNotified(story: Story): void {
  test(
    "the older `notify` is understood where it is configured",
    async () => {
      const { rig, backtrail } = story;
      const before = (await backtrail.steps()).length;
      const alone = await prompt(rig, "Only notified", ...NOTIFY);
      const end = await backtrail.waitForStep((step) => step.prompt === "Only notified");
      expect(end).toMatchObject({ kind: "turn-end", session: alone.sessionId, hasTranscript: true });
      expect(await backtrail.steps()).toHaveLength(before + 1);
    },
    TIMEOUT_MS,
  );
}
