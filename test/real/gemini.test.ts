/**
 * The whole of Backtrail with the real Gemini CLI, without a terminal; and what is there when the agent has lost its own
 * files.
 */
import { expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promptsHeard } from "./agent-driver.ts";
import type { Restored } from "./backtrail.ts";
import { chatsOf, driver, prompt, shellPrompt, writeSettings } from "./gemini.ts";
import { FIRST, firstTurn, type HeadlessPage, SECOND, type Story, TIMEOUT_MS } from "./headless-page.ts";
import { testHeadless } from "./headless-story.ts";
import { workTree } from "./project.ts";
import { toolUse } from "./server/scenario.ts";

const page: HeadlessPage = {
  adds: "hooks and says what they need",
  says: "only in a folder that you trust",
  settings: {
    path: ".gemini/settings.json",
    hook: "before-agent",
    // Tabs, a comment and no line end at the end: all of it must survive.
    users: '{\n\t// Mine\n\t"ui": { "hideTips": true },\n\t"context": {"fileName" : "NOTES.md"}}',
  },
  relative: true,
  subagent: {
    begin: (prompt) => toolUse("invoke_agent", { agent_name: "generalist", prompt }),
    done: toolUse("complete_task", { result: { response: "helper.txt is written." } }),
  },
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses write_file",
    "assistant uses read_file",
    expect.stringMatching(/^result: Successfully created/),
    "result: alpha",
    "assistant: Two more things.",
    "assistant uses replace",
    "assistant uses run_shell_command",
    expect.stringMatching(/^result: Successfully modified/),
    expect.stringMatching(/^result: /),
  ],
  transcript: (rig) => join(chatsOf(rig), readdirSync(chatsOf(rig)).find((name) => name.startsWith("session-")) ?? ""),
  command: ({ session }) => `gemini --resume ${session}`,
  own: { redone: losesItsFiles },
};

await testHeadless(driver, page);

function losesItsFiles(story: Story): void {
  test(
    "when the agent's own files are gone, what was stored brings the conversation back",
    async () => {
      const { rig, backtrail } = story;
      rmSync(chatsOf(rig), { recursive: true });
      const target = await backtrail.step("turn-start", SECOND);
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      const command = receipt?.chat?.command ?? "";
      expect(await shellPrompt(rig, command, "Still here?")).toMatchObject({ code: 0 });
      expect(rig.received.lastOutline()).toEqual([...firstTurn(page), "user: Still here?"]);

      // At its next start the agent clears up what a resume left behind: the fork must not be among it.
      const before = readdirSync(chatsOf(rig));
      writeSettings(rig.home, true);
      await prompt(rig, "Something else");
      expect(before.filter((name) => !readdirSync(chatsOf(rig)).includes(name))).toHaveLength(1);
      expect(await shellPrompt(rig, command, "And still?")).toMatchObject({ code: 0 });
      expect(promptsHeard(driver, rig)).toEqual([FIRST, "Still here?", "And still?"]);
    },
    TIMEOUT_MS,
  );

  test(
    "and so does redo",
    async () => {
      const { rig, backtrail } = story;
      const { receipt } = await backtrail.json<Restored>("redo", "--yes");
      expect(workTree(rig)).toEqual(story.afterSecond);
      expect(await shellPrompt(rig, receipt?.chat?.command ?? "", "Both?")).toMatchObject({ code: 0 });
      expect(promptsHeard(driver, rig)).toEqual([FIRST, SECOND, "And now?", "Both?"]);
    },
    TIMEOUT_MS,
  );
}
