/**
 * The same with the real Gemini CLI in a terminal, where turns can be broken off, the conversation can be compressed
 * and no settings file was there before. The tests are one story, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type Restored } from "./backtrail.ts";
import { geminiCli, leaveGemini, openGemini, say, shellPrompt } from "./gemini.ts";
import { except, makeProject, readIn, type WorkTree, workTree } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { answering, reply, type Scenario, scenario, stalling, toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const TIMEOUT_MS = 180_000;
const SETTINGS = ".gemini/settings.json";
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Now make it bigger [[second]]";
const BROKEN = "Think about it [[broken]]";
const SUMMARY = "<state_snapshot>A greeting was written and made bigger.</state_snapshot>";

const available = await availability(geminiCli);

describe.skipIf(available.program === null)("Gemini CLI, in a terminal", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let terminal: Terminal;
  let beforeSecond: WorkTree;
  let atTheEnd: WorkTree;

  beforeAll(async () => {
    rig = await Rig.start(geminiCli, available.program ?? "", scenarios);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("enable makes a settings file that git does not see", async () => {
    await rig.output(["backtrail", "enable", "--agent", "gemini"]);
    expect(existsSync(join(rig.project, SETTINGS))).toBe(true);
    expect(await rig.output(["git", "status", "--porcelain", "--untracked-files=all"])).toBe("");
  });

  test(
    "a turn is recorded while the agent stays open, and its user is told",
    async () => {
      terminal = await openGemini(rig);
      await terminal.waitFor("Backtrail is recording");
      await say(terminal, FIRST);
      await terminal.waitFor("Hello is there.");
      const end = await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === FIRST);
      expect(end.files).toEqual({ added: ["greeting.txt", "made.txt"], modified: [], deleted: [] });
      beforeSecond = workTree(rig);
    },
    TIMEOUT_MS,
  );

  test(
    "a turn that is broken off is recorded when the next one begins",
    async () => {
      await say(terminal, BROKEN);
      await terminal.waitFor("I am still thinking");
      terminal.press("Escape");
      await terminal.waitFor("Request cancelled");
      await say(terminal, SECOND);
      await terminal.waitFor("It is bigger.");
      await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === SECOND);
      const broken = await backtrail.show((await backtrail.step("turn-end", BROKEN)).id);
      expect(broken.interrupted).toBe(true);
      expect(broken.files).toEqual({ added: ["half.txt"], modified: [], deleted: [] });
      const second = await backtrail.show((await backtrail.step("turn-end", SECOND)).id);
      expect(second).toMatchObject({ interrupted: false, response: "It is bigger." });
      expect(second.files).toEqual({ added: [], modified: ["greeting.txt"], deleted: ["doc.txt"] });
    },
    TIMEOUT_MS,
  );

  test(
    "a compression that the user asks for is a step, those that the agent thinks of are none",
    async () => {
      const compressions = async () =>
        (await backtrail.steps()).filter((step) => step.kind === "tool" && step.turn === 3);
      expect(await compressions()).toHaveLength(1);
      await say(terminal, "/compress");
      await terminal.waitFor(/compressed from/i);
      expect(await compressions()).toHaveLength(2);
      await say(terminal, "What is left");
      await terminal.waitFor("You said: What is left");
      await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === "What is left");
    },
    TIMEOUT_MS,
  );

  test(
    "leaving, which the agent tells three times, ends the session once",
    async () => {
      const before = (await backtrail.steps()).length;
      await leaveGemini(terminal);
      expect(await backtrail.steps()).toHaveLength(before);
      const { sessions } = await backtrail.json<{ sessions: unknown[] }>("status");
      expect(sessions).toMatchObject([{ phase: "ENDED", turns: 4 }]);
      atTheEnd = workTree(rig);
    },
    TIMEOUT_MS,
  );

  test(
    "rewind to before the broken turn, and the agent goes on from exactly there",
    async () => {
      const target = await backtrail.step("turn-start", BROKEN);
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      expect(except(workTree(rig), "notes.log")).toEqual(except(beforeSecond, "notes.log"));
      expect(readIn(rig, "notes.log")).toBe("written by a command\n");

      const fork = await openGemini(rig, receipt?.chat?.command ?? "");
      await say(fork, "Where were we");
      await fork.waitFor("You said: Where were we");
      await leaveGemini(fork);
      expect(rig.received.lastOutline()).toEqual([
        `user: ${FIRST}`,
        "assistant: I will write it.",
        "assistant uses write_file",
        "assistant uses run_shell_command",
        expect.stringMatching(/^result: Successfully created/),
        expect.stringMatching(/^result: /),
        "assistant: Hello is there.",
        "user: Where were we",
      ]);
    },
    TIMEOUT_MS,
  );

  test(
    "redo, and then to the end: the summary is there, and what was said after it",
    async () => {
      await backtrail.json<Restored>("redo", "--yes");
      expect(workTree(rig)).toEqual(atTheEnd);
      const target = await backtrail.step("turn-end", "What is left");
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      expect(await shellPrompt(rig, receipt?.chat?.command ?? "", "And after that")).toMatchObject({ code: 0 });
      expect(rig.received.lastOutline()).toEqual([
        `user: ${SUMMARY}`,
        expect.stringMatching(/^assistant: Got it/),
        "user: What is left",
        "assistant: You said: What is left",
        "user: And after that",
      ]);
    },
    TIMEOUT_MS,
  );

  test("to the end of the turn before the compression: all of it is there, and no summary", async () => {
    const target = await backtrail.step("turn-end", SECOND);
    const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes", "--chat-only");
    const fork = readFileSync(receipt?.chat?.transcript ?? "", "utf8");
    for (const text of [FIRST, "Hello is there.", SECOND, "It is bigger."]) expect(fork).toContain(text);
    for (const text of ["state_snapshot", "What is left"]) expect(fork).not.toContain(text);
  });

  test("all invariants hold, and disable leaves nothing behind", async () => {
    expect(await backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
    await rig.output(["backtrail", "disable"]);
    expect(existsSync(join(rig.project, ".gemini"))).toBe(false);
  });
});

function scenarios(project: string): Scenario[] {
  const inProject = (path: string) => join(project, path);
  const written = (path: string, content: string) => toolUse("write_file", { file_path: inProject(path), content });
  const ran = (command: string) => toolUse("run_shell_command", { command });
  return [
    scenario("first", [
      reply("I will write it.", written("greeting.txt", "hello\n"), ran("printf 'made by a command\\n' > made.txt")),
      reply("Hello is there."),
    ]),
    scenario("broken", [reply("Half of it.", written("half.txt", "half\n")), stalling(reply("I am still thinking"))]),
    scenario("second", [
      reply("First the file.", written("greeting.txt", "HELLO\n")),
      reply("Now the rest.", ran("rm doc.txt && printf 'written by a command\\n' > notes.log")),
      reply("It is bigger."),
    ]),
    answering(/state_snapshot/, reply(SUMMARY)),
  ];
}
