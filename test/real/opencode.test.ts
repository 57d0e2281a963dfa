/**
 * The whole of Backtrail with the real OpenCode, without a terminal: two turns recorded, taken back, continued from
 * there, brought back, and Backtrail taken out again. The tests are one story, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type LoggedStep, type Restored } from "./backtrail.ts";
import { MODEL, openCode, openCodeAvailability, prompt } from "./opencode.ts";
import { makeProject, readIn, type WorkTree, workTree, writeIn } from "./project.ts";
import { Rig } from "./rig.ts";
import { reported } from "./server/openai-chat.ts";
import { type ReceivedCall, totalUsage } from "./server/received.ts";
import { reply, type Scenario, scenario, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;
const PLUGIN = ".opencode/plugin/backtrail.js";
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Now make it bigger [[second]]";
const SUBTASK = "[[subtask]] Write helper.txt";

const available = await openCodeAvailability();

describe.skipIf(available.program === null)("OpenCode, headless", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let session: string;
  let beforeSecond: WorkTree;
  let afterSecond: WorkTree;

  beforeAll(async () => {
    rig = await Rig.start(openCode, available.program ?? "", scenarios);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("enable adds the plugin, and git sees nothing new", async () => {
    await rig.output(["backtrail", "enable", "--agent", "opencode"]);
    expect(await gitStatus(rig)).toBe("");
    expect(readIn(rig, PLUGIN)).toContain("hooks opencode turn-start");
    expect(await backtrail.json("status")).toMatchObject({
      enabled: true,
      agents: expect.arrayContaining([{ id: "opencode", hooks: "installed", scope: "local" }]),
    });
  });

  test(
    "two turns run as they would without Backtrail",
    async () => {
      const first = await prompt(rig, FIRST);
      expect(first).toMatchObject({ code: 0, result: "Hello is there." });
      session = first.sessionId;
      writeIn(rig, "README.md", "# Example\n\nWritten by the user between two turns\n");
      await rig.output(["git", "add", "src/app.txt"]);
      const staged = await rig.output(["git", "diff", "--cached"]);
      beforeSecond = workTree(rig);

      const second = await prompt(rig, SECOND, "-s", session);
      expect(second).toMatchObject({ code: 0, result: "It is bigger.", sessionId: session });
      afterSecond = workTree(rig);
      expect(await rig.output(["git", "diff", "--cached"])).toBe(staged);
      expect(await rig.output(["git", "log", "--all", "--format=%s"])).toBe("Begin\n");
    },
    TIMEOUT_MS,
  );

  test("the log has both turns: prompts and files", async () => {
    const steps = await backtrail.steps();
    const turns = steps.filter((step) => step.kind === "turn-start" || step.kind === "turn-end");
    expect(turns.map(({ kind, turn, prompt, session, agent }) => ({ kind, turn, prompt, session, agent }))).toEqual(
      [
        { kind: "turn-start", turn: 1, prompt: FIRST },
        { kind: "turn-end", turn: 1, prompt: FIRST },
        { kind: "turn-start", turn: 2, prompt: SECOND },
        { kind: "turn-end", turn: 2, prompt: SECOND },
      ].map((step) => ({ ...step, session, agent: "opencode" })),
    );
    expect(sorted((await backtrail.step("turn-end", FIRST)).files)).toEqual({
      added: ["greeting.txt", "made.txt"],
      modified: ["src/app.txt"],
      deleted: [],
    });
    expect(sorted((await backtrail.step("turn-end", SECOND)).files)).toEqual({
      added: ["helper.txt"],
      modified: ["greeting.txt", "run.sh"],
      deleted: ["doc.txt"],
    });
  });

  test("a step says what the agent answered and what it cost", async () => {
    for (const [text, names, answer] of [
      [FIRST, ["first"], "Hello is there."],
      [SECOND, ["second", "subtask"], "It is bigger."],
    ] as const) {
      const shown = await backtrail.show((await backtrail.step("turn-end", text)).id);
      expect(shown).toMatchObject({ response: answer, model: MODEL, interrupted: false });
      expect(shown.tokens).toEqual(usageOf(rig, (call) => names.some((name) => name === call.scenario)));
    }
  });

  test("the subagent has steps of its own below the turn that started it", async () => {
    const start = await backtrail.step("turn-start", SECOND);
    const tasks = (await backtrail.steps()).filter((step) => step.kind === "task");
    expect(tasks).toHaveLength(2);
    expect(tasks.every((task) => task.turn === 2 && task.parent === start.id)).toBe(true);
    const end = await backtrail.show(tasks.at(-1)?.id ?? "");
    expect(end).toMatchObject({ prompt: SUBTASK, response: "helper.txt is written." });
    expect(end.files).toEqual({ added: ["helper.txt"], modified: [], deleted: [] });
    expect(end.tokens).toEqual(usageOf(rig, (call) => call.subagent !== null));
  });

  test("there is a step from just before the command that removes files", async () => {
    const tools = (await backtrail.steps()).filter((step) => step.kind === "tool");
    expect(tools.map((step) => step.turn)).toEqual([2]);
  });

  test(
    "rewind to before the second turn, and the agent goes on from exactly there",
    async () => {
      const target = await backtrail.step("turn-start", SECOND);
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      expect(workTree(rig)).toEqual(beforeSecond);
      const chat = receipt?.chat;
      expect(chat?.agent).toBe("opencode");
      expect(chat?.session).toMatch(/^ses_[0-9a-f]{12}\w{14}$/);
      expect(chat?.session).not.toBe(session);
      expect(chat?.command).toBe(`opencode import ${chat?.transcript} && opencode -s ${chat?.session}`);

      await rig.output(["sh", "-c", chat?.command.split(" && ")[0] ?? ""]);
      const resumed = await prompt(rig, "Where were we?", "-s", chat?.session ?? "");
      expect(resumed).toMatchObject({ code: 0, result: "You said: Where were we?", sessionId: chat?.session });
      expect(rig.received.lastOutline()).toEqual([
        `user: ${FIRST}`,
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
        "assistant: Hello is there.",
        "user: Where were we?",
      ]);
      const turn = await backtrail.step("turn-end", "Where were we?");
      expect(turn).toMatchObject({ session: chat?.session, turn: 1 });
      const { tokens } = await backtrail.show(turn.id);
      expect(tokens).toEqual(usageOf(rig, (call) => call.number === rig.received.last().number));
    },
    TIMEOUT_MS,
  );

  test(
    "redo brings everything back, and the agent knows both turns again",
    async () => {
      await backtrail.json<Restored>("redo", "--yes");
      expect(workTree(rig)).toEqual(afterSecond);

      await prompt(rig, "And now?", "-s", session);
      const heard = rig.received.lastOutline({ session });
      expect(heard.filter((line) => line.startsWith("user: "))).toEqual([
        `user: ${FIRST}`,
        `user: ${SECOND}`,
        "user: And now?",
      ]);
      expect(heard.at(-2)).toBe("assistant: It is bigger.");
    },
    TIMEOUT_MS,
  );

  test("all invariants hold, and nothing went wrong in any hook", async () => {
    const doctor = await backtrail.run("doctor", "--check", "--json");
    expect(doctor).toMatchObject({ code: 0 });
  });

  test("disable takes the plugin away", async () => {
    await rig.output(["backtrail", "disable"]);
    expect(existsSync(join(rig.project, PLUGIN))).toBe(false);
    expect(await gitStatus(rig)).not.toContain(".opencode");
  });
});

function scenarios(project: string): Scenario[] {
  const inProject = (path: string) => join(project, path);
  return [
    scenario("first", [
      reply(
        "I will write it.",
        toolUse("write", { filePath: inProject("greeting.txt"), content: "hello\n" }),
        toolUse("read", { filePath: inProject("src/app.txt") }),
      ),
      reply(
        "Two more things.",
        toolUse("edit", { filePath: inProject("src/app.txt"), oldString: "beta", newString: "gamma" }),
        toolUse("bash", { command: "printf 'made by a command\\n' > made.txt", description: "Make a file" }),
      ),
      reply("Hello is there."),
    ]),
    scenario("second", [
      reply(
        "First the file.",
        toolUse("edit", { filePath: inProject("greeting.txt"), oldString: "hello", newString: "HELLO" }),
      ),
      reply("Now the rest.", toolUse("bash", { command: "rm doc.txt && chmod +x run.sh", description: "Tidy up" })),
      reply(
        "A subagent does the last part.",
        toolUse("task", { description: "Write the helper", prompt: SUBTASK, subagent_type: "general" }),
      ),
      reply("It is bigger."),
    ]),
    scenario("subtask", [
      reply("Writing.", toolUse("write", { filePath: inProject("helper.txt"), content: "by the subagent\n" })),
      reply("helper.txt is written."),
    ]),
  ];
}

/** What the agent could know of it; titles, which it asks for by the way, are not counted. */
function usageOf(rig: Rig, wanted: (call: ReceivedCall) => boolean) {
  return reported(totalUsage(rig.received.all().filter((call) => call.tools.length > 0 && wanted(call))));
}

function gitStatus(rig: Rig): Promise<string> {
  return rig.output(["git", "status", "--porcelain", "--untracked-files=all"]);
}

function sorted(files: LoggedStep["files"]): LoggedStep["files"] {
  return {
    added: [...files.added].sort(),
    modified: [...files.modified].sort(),
    deleted: [...files.deleted].sort(),
  };
}
