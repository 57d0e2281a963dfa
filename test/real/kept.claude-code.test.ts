/** The real Claude Code goes on with a conversation that it deleted, long after its steps have expired. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Backtrail } from "./backtrail.ts";
import { claudeCode, prompt, shellPrompt } from "./claude-code.ts";
import { makeProject } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { reply, scenario, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 120_000;
const available = await availability(claudeCode);

describe.skipIf(available.program === null)("Claude Code, after its clean-up", () => {
  let rig: Rig;
  let backtrail: Backtrail;

  beforeAll(async () => {
    rig = await Rig.start(claudeCode, available.program ?? "", (project) => [
      scenario("whole", [
        reply("Writing the quokka.", toolUse("Write", { file_path: join(project, "quokka.txt"), content: "quokka\n" })),
        reply("Written, says the wombat."),
      ]),
    ]);
    backtrail = new Backtrail(rig);
    await makeProject(rig);
    await rig.output(["backtrail", "enable", "--agent", "claude-code"]);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test(
    "a session without transcript and steps is found, resumed and gone on with",
    async () => {
      const asked = "Write the quokka [[whole]]";
      const { sessionId } = await prompt(rig, asked);
      const later = new Date(Date.now() + 40 * 86_400_000).toISOString();
      const cleaned = await rig.run(["backtrail", "clean", "--yes", "--json"], { env: { BACKTRAIL_CLOCK: later } });
      expect(cleaned).toMatchObject({ code: 0 });
      expect((JSON.parse(cleaned.stdout) as { steps: string[] }).steps.length).toBeGreaterThan(0);
      const projects = join(rig.home, ".claude/projects");
      rmSync(projects, { recursive: true });

      const { hits } = await backtrail.json<{ hits: { id: string; session: string; field: string; fate: unknown }[] }>(
        ...["search", "wombat"],
      );
      expect(hits).toMatchObject([{ id: sessionId, session: sessionId, field: "answer", fate: null }]);

      const { chat, written } = await backtrail.json<{ chat: { command: string }; written: string | null }>(
        ...["resume", hits[0]?.id ?? "", "--yes"],
      );
      expect(existsSync(written ?? "")).toBe(true);
      await shellPrompt(rig, chat.command, "Where were we?");
      expect(rig.received.lastOutline()).toEqual([
        `user: ${asked}`,
        "assistant: Writing the quokka.",
        "assistant uses Write",
        expect.stringMatching(/^result: File created/),
        "assistant: Written, says the wombat.",
        "user: Where were we?",
      ]);
    },
    TIMEOUT_MS,
  );
});
