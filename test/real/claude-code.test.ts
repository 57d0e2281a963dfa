/**
 * The whole of Backtrail with the real Claude Code, without a terminal: two turns recorded, taken back,
 * continued from there, brought back, and Backtrail taken out again. The tests are one story, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type LoggedStep, type Restored } from "./backtrail.ts";
import { claudeCode, prompt, shellPrompt } from "./claude-code.ts";
import { except, makeProject, readIn, type WorkTree, workTree, writeIn } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { totalUsage } from "./server/received.ts";
import { reply, type Scenario, scenario, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 120_000;
const SETTINGS = ".claude/settings.local.json";
// Tabs, a key that nobody knows and no line end at the end: all of it must survive.
const USERS_SETTINGS = '{\n\t"permissions": { "allow": ["Bash(ls:*)"] },\n\t"x-unknown": [1,2 , 3]}';
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Now make it bigger [[second]]";
const SUBTASK = "[[subtask]] Write helper.txt";

const available = await availability(claudeCode);

describe.skipIf(available.program === null)("Claude Code, headless", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let session: string;
  let beforeSecond: WorkTree;
  let afterSecond: WorkTree;
  let statusBefore: string;

  beforeAll(async () => {
    rig = await Rig.start(claudeCode, available.program ?? "", scenarios);
    await makeProject(rig);
    writeIn(rig, SETTINGS, USERS_SETTINGS);
    await rig.output(["sh", "-c", "echo .claude/ >> .git/info/exclude"]);
    backtrail = new Backtrail(rig);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("enable adds hooks, and git sees nothing new", async () => {
    statusBefore = await gitStatus(rig);
    await rig.output(["backtrail", "enable", "--agent", "claude-code"]);
    expect(await gitStatus(rig)).toBe(statusBefore);
    expect(readIn(rig, SETTINGS)).toContain("hooks claude-code user-prompt-submit");
    const status = await backtrail.json("status");
    expect(status).toMatchObject({
      enabled: true,
      store: { kind: "repository" },
      agents: expect.arrayContaining([{ id: "claude-code", hooks: "installed", scope: "local" }]),
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

      const second = await prompt(rig, SECOND, "--resume", session);
      expect(second).toMatchObject({ code: 0, result: "It is bigger." });
      afterSecond = workTree(rig);
      expect(await rig.output(["git", "diff", "--cached"])).toBe(staged);
      expect(await rig.output(["git", "stash", "list"])).toBe("");
      expect(await rig.output(["git", "log", "--all", "--format=%s"])).toBe("Begin\n");
      const failures = rig.received.lastOutline().filter((line) => line.startsWith("failure"));
      expect(failures).toEqual([]);
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
      ].map((step) => ({ ...step, session, agent: "claude-code" })),
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
    // A turn costs what its subagents cost, too.
    for (const [text, scenarios, answer] of [
      [FIRST, ["first"], "Hello is there."],
      [SECOND, ["second", "subtask"], "It is bigger."],
    ] as const) {
      const shown = await backtrail.show((await backtrail.step("turn-end", text)).id);
      const calls = rig.received.all().filter((call) => scenarios.some((name) => name === call.scenario));
      expect(shown.response).toBe(answer);
      expect(shown.tokens).toEqual(totalUsage(calls));
      expect(shown.model).toBe(calls[0]?.model ?? "");
      expect(shown.interrupted).toBe(false);
    }
  });

  test("the subagent has steps of its own below the turn that started it", async () => {
    const steps = await backtrail.steps();
    const start = await backtrail.step("turn-start", SECOND);
    const tasks = steps.filter((step) => step.kind === "task");
    expect(tasks.every((task) => task.turn === 2 && task.parent === start.id)).toBe(true);
    const end = await backtrail.show(tasks.at(-1)?.id ?? "");
    expect(end.prompt).toBe(SUBTASK);
    expect(end.files).toEqual({ added: ["helper.txt"], modified: [], deleted: [] });
    expect(end.tokens).toEqual(totalUsage(rig.received.all().filter((call) => call.subagent !== null)));
  });

  test("there is a step from just before the command that removes files", async () => {
    const tools = (await backtrail.steps()).filter((step) => step.kind === "tool");
    expect(tools.map((step) => step.turn)).toEqual([2]);
  });

  test("a dry run says everything and does nothing", async () => {
    const target = await backtrail.step("turn-start", SECOND);
    const dry = await backtrail.json<Restored>("rewind", target.id, "--dry-run");
    expect(dry.receipt).toBeNull();
    expect([...dry.plan.write].sort()).toEqual(["doc.txt", "greeting.txt", "src/app.txt"]);
    expect([...dry.plan.delete].sort()).toEqual(["deep/er/file.txt", "helper.txt"]);
    expect(dry.plan.chmod).toEqual(["run.sh"]);
    expect(workTree(rig)).toEqual(afterSecond);
  });

  test(
    "rewind to before the second turn, and the agent goes on from exactly there",
    async () => {
      const target = await backtrail.step("turn-start", SECOND);
      const transcript = transcriptOf(rig, session);
      const original = readFileSync(transcript, "utf8");
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");

      expect(except(workTree(rig), "notes.log")).toEqual(except(beforeSecond, "notes.log"));
      expect(readIn(rig, "notes.log")).toBe("written by a command\n");
      expect(readFileSync(transcript, "utf8")).toBe(original);
      expect(receipt?.chat?.agent).toBe("claude-code");
      expect(receipt?.chat?.session).not.toBe(session);

      const resumed = await shellPrompt(rig, receipt?.chat?.command ?? "", "Where were we?");
      expect(resumed).toMatchObject({ code: 0, result: "You said: Where were we?" });
      expect(rig.received.lastOutline()).toEqual([
        `user: ${FIRST}`,
        "assistant: I will write it.",
        "assistant uses Write",
        "assistant uses Read",
        expect.stringMatching(/^result: File created successfully/),
        expect.stringContaining("alpha"),
        "assistant: Two more things.",
        "assistant uses Edit",
        "assistant uses Bash",
        expect.stringMatching(/^result: The file .* has been updated/),
        expect.stringMatching(/^result: /),
        "assistant: Hello is there.",
        "user: Where were we?",
      ]);
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

  test(
    "disable leaves the settings as they were, byte for byte",
    async () => {
      const recorded = await hiddenRefs(rig);
      await rig.output(["backtrail", "disable"]);
      expect(readIn(rig, SETTINGS)).toBe(USERS_SETTINGS);
      expect(await gitStatus(rig)).not.toContain(".claude");
      const { result } = await prompt(rig, "Is anybody listening?");
      expect(result).toBe("You said: Is anybody listening?");
      expect(await hiddenRefs(rig)).toBe(recorded);
    },
    TIMEOUT_MS,
  );
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
  return [
    scenario("first", [
      reply(
        "I will write it.",
        toolUse("Write", { file_path: inProject("greeting.txt"), content: "hello\n" }),
        toolUse("Read", { file_path: inProject("src/app.txt") }),
      ),
      reply(
        "Two more things.",
        toolUse("Edit", { file_path: inProject("src/app.txt"), old_string: "beta", new_string: "gamma" }),
        toolUse("Bash", { command: "printf 'made by a command\\n' > made.txt", description: "Make a file" }),
      ),
      reply("Hello is there."),
    ]),
    scenario("second", [
      reply(
        "First the file.",
        toolUse("Edit", { file_path: inProject("greeting.txt"), old_string: "hello", new_string: "HELLO" }),
      ),
      reply("Now the rest.", toolUse("Bash", { command: secondCommand, description: "Change many things" })),
      reply(
        "A subagent does the last part.",
        toolUse("Agent", {
          description: "Write the helper",
          prompt: SUBTASK,
          subagent_type: "general-purpose",
          run_in_background: false,
        }),
      ),
      reply("It is bigger."),
    ]),
    scenario("subtask", [
      reply("Writing.", toolUse("Write", { file_path: inProject("helper.txt"), content: "by the subagent\n" })),
      reply("helper.txt is written."),
    ]),
  ];
}

function gitStatus(rig: Rig): Promise<string> {
  return rig.output(["git", "status", "--porcelain", "--untracked-files=all"]);
}

/** What is recorded, by object id. */
function hiddenRefs(rig: Rig): Promise<string> {
  return rig.output(["git", "for-each-ref", "refs/backtrail"]);
}

function transcriptOf(rig: Rig, session: string): string {
  const directory = rig.project.replace(/[^A-Za-z0-9]/g, "-");
  return join(rig.home, ".claude/projects", directory, `${session}.jsonl`);
}

function sorted(files: LoggedStep["files"]): LoggedStep["files"] {
  return {
    added: [...files.added].sort(),
    modified: [...files.modified].sort(),
    deleted: [...files.deleted].sort(),
  };
}
