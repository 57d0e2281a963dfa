/** Gemini CLI in a terminal, where the conversation is compressed, by its user and by itself. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Restored } from "./backtrail.ts";
import { driver, leaveGemini, openGemini, prompt, say, shellPrompt } from "./gemini.ts";
import { PAGE, SUMMARY } from "./gemini-page.ts";
import { AFTERWARDS, FIRST, LEFT, SECOND, type TerminalStory, TIMEOUT_MS } from "./terminal-page.ts";
import { testInTerminal } from "./terminal-story.ts";

await testInTerminal(driver, {
  made: ".gemini",
  open: openGemini,
  leave: leaveGemini,
  say,
  async stop(terminal) {
    terminal.press("Escape");
    await terminal.waitFor("Request cancelled");
  },
  shows: "Backtrail is recording",
  ...PAGE,
  own: { redone: keepsTheSummary },
});

function keepsTheSummary(story: TerminalStory): void {
  test(
    "to the end: the summary is there, and what was said after it",
    async () => {
      const { rig, backtrail } = story;
      const target = await backtrail.step("turn-end", LEFT);
      // A conversation that ends there already needs no copy.
      expect(await prompt(rig, "One more", "--resume", target.session ?? "")).toMatchObject({ code: 0 });
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      expect(await shellPrompt(rig, receipt?.chat?.command ?? "", "And after that")).toMatchObject({ code: 0 });
      expect(rig.received.lastOutline()).toEqual([
        `user: ${SUMMARY}`,
        expect.stringMatching(/^assistant: Got it/),
        // It keeps the last of what was said.
        `user: ${AFTERWARDS}`,
        `assistant: You said: ${AFTERWARDS}`,
        `user: ${LEFT}`,
        `assistant: You said: ${LEFT}`,
        "user: And after that",
      ]);
    },
    TIMEOUT_MS,
  );

  test("to the end of the turn before the compression: all of it is there, and no summary", async () => {
    const target = await story.backtrail.step("turn-end", AFTERWARDS);
    const { receipt } = await story.backtrail.json<Restored>("rewind", target.id, "--yes", "--chat-only");
    const fork = readFileSync(receipt?.chat?.transcript ?? "", "utf8");
    for (const text of [FIRST, "Hello is there.", SECOND, "It is bigger."]) expect(fork).toContain(text);
    for (const text of ["state_snapshot", LEFT]) expect(fork).not.toContain(text);
  });
}
