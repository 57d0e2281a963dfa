/**
 * The whole of Backtrail with the real Gemini CLI, without a terminal: two turns recorded, taken back, continued from
 * there, brought back, restored after the agent lost its own files, and Backtrail taken out again. The tests are one
 * story, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type LoggedStep, type Restored } from "./backtrail.ts";
import { chatsOf, geminiCli, prompt, shellPrompt, writeSettings } from "./gemini.ts";
import { except, makeProject, readIn, type WorkTree, workTree, writeIn } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { totalUsage } from "./server/received.ts";
import { reply, type Scenario, scenario, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 120_000;
const SETTINGS = ".gemini/settings.json";
// Tabs, a comment and no line end at the end: all of it must survive.
const USERS_SETTINGS = '{\n\t// Mine\n\t"ui": { "hideTips": true },\n\t"context": {"fileName" : "NOTES.md"}}';
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Now make it bigger [[second]]";
const SUBTASK = "[[subtask]] Write helper.txt";
const FIRST_TURN = [
  `user: ${FIRST}`,
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
  "assistant: Hello is there.",
];

const available = await availability(geminiCli);

describe.skipIf(available.program === null)("Gemini CLI, headless", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let session: string;
  let beforeSecond: WorkTree;
  let afterSecond: WorkTree;

  beforeAll(async () => {
    rig = await Rig.start(geminiCli, available.program ?? "", scenarios);
    await makeProject(rig);
    writeIn(rig, SETTINGS, USERS_SETTINGS);
    await rig.output(["sh", "-c", "echo .gemini/ >> .git/info/exclude"]);
    backtrail = new Backtrail(rig);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("enable adds hooks and says what they need; git sees nothing new", async () => {
    const enabled = await rig.run(["backtrail", "enable", "--agent", "gemini"]);
    expect(enabled.code).toBe(0);
    expect(enabled.stdout + enabled.stderr).toContain("only in a folder that you trust");
    expect(await gitStatus(rig)).toBe("");
    expect(readIn(rig, SETTINGS)).toContain("hooks gemini before-agent");
    expect(await backtrail.json("status")).toMatchObject({
      enabled: true,
      agents: expect.arrayContaining([{ id: "gemini", hooks: "installed", scope: "local" }]),
    });
  });

  test(
    "two turns run as they would without Backtrail",
    async () => {
      const first = await prompt(rig, FIRST);
      expect(first).toMatchObject({ code: 0, response: "Hello is there." });
      session = first.sessionId;
      writeIn(rig, "README.md", "# Example\n\nWritten by the user between two turns\n");
      await rig.output(["git", "add", "src/app.txt"]);
      const staged = await rig.output(["git", "diff", "--cached"]);
      beforeSecond = workTree(rig);

      const second = await prompt(rig, SECOND, "--resume", session);
      expect(second).toMatchObject({ code: 0, response: "It is bigger.", sessionId: session });
      afterSecond = workTree(rig);
      expect(await rig.output(["git", "diff", "--cached"])).toBe(staged);
      expect(await rig.output(["git", "log", "--all", "--format=%s"])).toBe("Begin\n");
      const heard = rig.received.lastOutline();
      expect(heard.filter((line) => line.startsWith("failure"))).toEqual([]);
      expect(heard.join("\n")).not.toContain("Backtrail");
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
      ].map((step) => ({ ...step, session, agent: "gemini" })),
    );
    expect(sorted((await backtrail.step("turn-end", FIRST)).files)).toEqual({
      added: ["greeting.txt", "made.txt"],
      modified: ["src/app.txt"],
      deleted: [],
    });
    expect(sorted((await backtrail.step("turn-end", SECOND)).files)).toEqual({
      added: ["deep/er/file.txt", "helper.txt"],
      modified: ["greeting.txt", "run.sh", "src/app.txt"],
      deleted: ["doc.txt"],
    });
    expect(turns.filter((step) => step.kind === "turn-end").every((step) => step.hasTranscript)).toBe(true);
  });

  test("a step says what the agent answered and what it cost", async () => {
    for (const [text, scenarios, answer] of [
      [FIRST, ["first"], "Hello is there."],
      [SECOND, ["second", "subtask"], "It is bigger."],
    ] as const) {
      const shown = await backtrail.show((await backtrail.step("turn-end", text)).id);
      const calls = rig.received.calls().filter((call) => scenarios.some((name) => name === call.scenario));
      expect(shown.response).toBe(answer);
      // Gemini asks no price for filling its cache.
      expect(shown.tokens).toEqual({ ...totalUsage(calls), cacheWrite: 0 });
      expect(shown.model).toBe(calls[0]?.model ?? "");
      expect(shown.interrupted).toBe(false);
    }
  });

  test("the subagent has steps of its own below the turn that started it", async () => {
    const start = await backtrail.step("turn-start", SECOND);
    const tasks = (await backtrail.steps()).filter((step) => step.kind === "task");
    expect(tasks.length).toBeGreaterThan(0);
    expect(tasks.every((task) => task.turn === 2 && task.parent === start.id)).toBe(true);
    const end = await backtrail.show(tasks.at(-1)?.id ?? "");
    expect(end).toMatchObject({ prompt: SUBTASK, response: "helper.txt is written." });
    expect(end.files).toEqual({ added: ["helper.txt"], modified: [], deleted: [] });
    const calls = rig.received.calls().filter((call) => call.scenario === "subtask");
    expect(end.tokens).toEqual({ ...totalUsage(calls), cacheWrite: 0 });
  });

  test("there is a step from just before the command that removes files", async () => {
    const tools = (await backtrail.steps()).filter((step) => step.kind === "tool");
    expect(tools.map((step) => step.turn)).toEqual([2]);
  });

  test(
    "rewind to before the second turn, and the agent goes on from exactly there",
    async () => {
      const target = await backtrail.step("turn-start", SECOND);
      const [name = ""] = readdirSync(chatsOf(rig)).filter((each) => each.startsWith("session-"));
      const original = readFileSync(join(chatsOf(rig), name), "utf8");
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");

      expect(except(workTree(rig), "notes.log")).toEqual(except(beforeSecond, "notes.log"));
      expect(readIn(rig, "notes.log")).toBe("written by a command\n");
      expect(readFileSync(join(chatsOf(rig), name), "utf8")).toBe(original);
      expect(receipt?.chat?.agent).toBe("gemini");
      expect(receipt?.chat?.session).not.toBe(session);

      const resumed = await shellPrompt(rig, receipt?.chat?.command ?? "", "Where were we?");
      expect(resumed).toMatchObject({
        code: 0,
        response: "You said: Where were we?",
        sessionId: receipt?.chat?.session ?? "",
      });
      expect(rig.received.lastOutline()).toEqual([...FIRST_TURN, "user: Where were we?"]);
    },
    TIMEOUT_MS,
  );

  test(
    "redo brings everything back, and the agent knows both turns again",
    async () => {
      const { receipt } = await backtrail.json<Restored>("redo", "--yes");
      expect(workTree(rig)).toEqual(afterSecond);
      expect(receipt?.safetyStep).toBeString();

      await prompt(rig, "And now?", "--resume", session);
      expect(promptsHeard(rig)).toEqual([FIRST, SECOND, "And now?"]);
      expect(rig.received.lastOutline().at(-2)).toBe("assistant: It is bigger.");
    },
    TIMEOUT_MS,
  );

  test(
    "when the agent's own files are gone, what was stored brings the conversation back",
    async () => {
      rmSync(chatsOf(rig), { recursive: true });
      const target = await backtrail.step("turn-start", SECOND);
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      const command = receipt?.chat?.command ?? "";
      expect(await shellPrompt(rig, command, "Still here?")).toMatchObject({ code: 0 });
      expect(rig.received.lastOutline()).toEqual([...FIRST_TURN, "user: Still here?"]);

      // At its next start the agent clears up what a resume left behind: the fork must not be among it.
      const before = readdirSync(chatsOf(rig));
      writeSettings(rig.home, true);
      await prompt(rig, "Something else");
      expect(before.filter((name) => !readdirSync(chatsOf(rig)).includes(name))).toHaveLength(1);
      expect(await shellPrompt(rig, command, "And still?")).toMatchObject({ code: 0 });
      expect(promptsHeard(rig)).toEqual([FIRST, "Still here?", "And still?"]);
    },
    TIMEOUT_MS,
  );

  test(
    "and so does redo",
    async () => {
      const { receipt } = await backtrail.json<Restored>("redo", "--yes");
      expect(workTree(rig)).toEqual(afterSecond);
      expect(await shellPrompt(rig, receipt?.chat?.command ?? "", "Both?")).toMatchObject({ code: 0 });
      expect(promptsHeard(rig)).toEqual([FIRST, SECOND, "And now?", "Both?"]);
    },
    TIMEOUT_MS,
  );

  test("all invariants hold, and nothing went wrong in any hook", async () => {
    expect(await backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
  });

  test("disable leaves the settings as they were, byte for byte", async () => {
    await rig.output(["backtrail", "disable"]);
    expect(readIn(rig, SETTINGS)).toBe(USERS_SETTINGS);
    expect(await gitStatus(rig)).not.toContain(".gemini");
  });
});

function scenarios(project: string): Scenario[] {
  const inProject = (path: string) => join(project, path);
  const secondCommand = [
    "printf 'changed by a command\\n' > src/app.txt",
    "mkdir -p deep/er && printf 'new\\n' > deep/er/file.txt",
    "rm doc.txt",
    "chmod +x run.sh",
    "printf 'written by a command\\n' > notes.log",
  ].join(" && ");
  const replaced = (path: string, before: string, after: string) =>
    toolUse("replace", { file_path: path, instruction: "Change it", old_string: before, new_string: after });
  return [
    scenario("first", [
      reply(
        "I will write it.",
        toolUse("write_file", { file_path: inProject("greeting.txt"), content: "hello\n" }),
        toolUse("read_file", { file_path: "src/app.txt" }),
      ),
      reply(
        "Two more things.",
        replaced("src/app.txt", "beta", "gamma"),
        toolUse("run_shell_command", { command: "printf 'made by a command\\n' > made.txt" }),
      ),
      reply("Hello is there."),
    ]),
    scenario("second", [
      reply("First the file.", replaced(inProject("greeting.txt"), "hello", "HELLO")),
      reply("Now the rest.", toolUse("run_shell_command", { command: secondCommand })),
      reply("A subagent does the last part.", toolUse("invoke_agent", { agent_name: "generalist", prompt: SUBTASK })),
      reply("It is bigger."),
    ]),
    scenario("subtask", [
      reply("Writing.", toolUse("write_file", { file_path: inProject("helper.txt"), content: "by the subagent\n" })),
      reply(toolUse("complete_task", { result: { response: "helper.txt is written." } })),
    ]),
  ];
}

/** What the model was told by the user, in the conversation that it saw last. */
function promptsHeard(rig: Rig): string[] {
  const said = rig.received.lastOutline().filter((line) => line.startsWith("user: "));
  return said.map((line) => line.slice("user: ".length));
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
