/**
 * The whole of Backtrail with the real GitHub Copilot CLI, without a terminal: two turns recorded, taken back, continued
 * from there, brought back. The tests are one story, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type LoggedStep, type Restored } from "./backtrail.ts";
import { copilot, heard, prompt, shellPrompt } from "./copilot-cli.ts";
import { except, makeProject, type WorkTree, workTree, writeIn } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { reported } from "./server/openai-chat.ts";
import { totalUsage } from "./server/received.ts";
import { reply, type Scenario, scenario, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 120_000;
const HOOKS = ".github/hooks/backtrail.json";
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Now make it bigger [[second]]";
const SUBTASK = "[[subtask]] Write helper.txt";

const available = await availability(copilot);

describe.skipIf(available.program === null)("Copilot, headless", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let session: string;
  let beforeSecond: WorkTree;
  let afterSecond: WorkTree;

  beforeAll(async () => {
    rig = await Rig.start(copilot, available.program ?? "", scenarios);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("enable adds a file of hooks, and git sees nothing new; that the folder must be trusted is said", async () => {
    const before = await gitStatus(rig);
    const enabled = await backtrail.run("enable", "--agent", "copilot");
    expect(enabled).toMatchObject({ code: 0 });
    expect(enabled.stdout + enabled.stderr).toContain("only where you trust its folder");
    expect(await gitStatus(rig)).toBe(before);
    expect(existsSync(join(rig.project, HOOKS))).toBe(true);
  });

  test(
    "two turns run as they would without Backtrail",
    async () => {
      const first = await prompt(rig, FIRST);
      expect(first).toMatchObject({ code: 0, stderr: "" });
      session = first.sessionId;
      writeIn(rig, "README.md", "# Example\n\nWritten by the user between two turns\n");
      beforeSecond = workTree(rig);
      expect(await prompt(rig, SECOND, `--resume=${session}`)).toMatchObject({ code: 0, sessionId: session });
      afterSecond = workTree(rig);
      expect(await rig.output(["git", "log", "--all", "--format=%s"])).toBe("Begin\n");
    },
    TIMEOUT_MS,
  );

  test("the log has both turns: prompts and files", async () => {
    const turns = (await backtrail.steps()).filter((step) => step.kind.startsWith("turn-"));
    expect(turns.map(({ kind, turn, prompt, session, agent }) => ({ kind, turn, prompt, session, agent }))).toEqual(
      [
        { kind: "turn-start", turn: 1, prompt: FIRST },
        { kind: "turn-end", turn: 1, prompt: FIRST },
        { kind: "turn-start", turn: 2, prompt: SECOND },
        { kind: "turn-end", turn: 2, prompt: SECOND },
      ].map((step) => ({ ...step, session, agent: "copilot-cli" })),
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
  });

  test("a step says what the agent answered and what it cost, its subagent's share with it", async () => {
    for (const [text, scenarios, answer] of [
      [FIRST, ["first"], "Hello is there."],
      [SECOND, ["second", "subtask"], "It is bigger."],
    ] as const) {
      const shown = await backtrail.show((await backtrail.step("turn-end", text)).id);
      const calls = rig.received.all().filter((call) => scenarios.some((name) => name === call.scenario));
      expect(shown).toMatchObject({ response: answer, model: "scripted-1", interrupted: false });
      expect(shown.tokens).toEqual(reported(totalUsage(calls)));
    }
  });

  test("the subagent has steps of its own below the turn that started it, the removing command one before it", async () => {
    const steps = await backtrail.steps();
    const start = await backtrail.step("turn-start", SECOND);
    const tasks = steps.filter((step) => step.kind === "task");
    expect(tasks.map(({ turn, parent, prompt }) => ({ turn, parent, prompt }))).toEqual([
      { turn: 2, parent: start.id, prompt: SUBTASK },
      { turn: 2, parent: start.id, prompt: SUBTASK },
    ]);
    expect(tasks.at(-1)?.files).toEqual({ added: ["helper.txt"], modified: [], deleted: [] });
    expect(steps.filter((step) => step.kind === "tool").map((step) => step.turn)).toEqual([2]);
  });

  test(
    "rewind to before the second turn, and the agent goes on from exactly there",
    async () => {
      const target = await backtrail.step("turn-start", SECOND);
      const original = readFileSync(transcriptOf(rig, session), "utf8");
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      expect(except(workTree(rig), "notes.log")).toEqual(except(beforeSecond, "notes.log"));
      expect(readFileSync(transcriptOf(rig, session), "utf8")).toBe(original);

      const resumed = await shellPrompt(rig, receipt?.chat?.command ?? "", "Where were we?");
      expect(resumed).toMatchObject({ code: 0, sessionId: receipt?.chat?.session ?? "" });
      expect(heard(rig)).toEqual([
        `user: ${FIRST}`,
        "assistant: I will write it.",
        "assistant uses create",
        expect.stringMatching(/^result: Created file/),
        "assistant: Two more things.",
        "assistant uses edit",
        "assistant uses bash",
        expect.stringMatching(/^result: File .* updated/),
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
      await backtrail.json<Restored>("redo", "--yes");
      expect(workTree(rig)).toEqual(afterSecond);
      await prompt(rig, "And now?", `--resume=${session}`);
      expect(heard(rig).filter((line) => line.startsWith("user: "))).toEqual([
        `user: ${FIRST}`,
        `user: ${SECOND}`,
        "user: And now?",
      ]);
    },
    TIMEOUT_MS,
  );

  test(
    "Claude Code's hooks, which Copilot runs too, tell nothing twice",
    async () => {
      await rig.output(["backtrail", "enable", "--agent", "claude-code"]);
      const { sessionId } = await prompt(rig, "Once more");
      const steps = (await backtrail.steps()).filter((step) => step.session === sessionId);
      expect(steps.map(({ kind, agent }) => [kind, agent])).toEqual([
        ["turn-start", "copilot-cli"],
        ["turn-end", "copilot-cli"],
      ]);
    },
    TIMEOUT_MS,
  );

  test("all invariants hold, and disable leaves nothing behind", async () => {
    expect(await backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
    await rig.output(["backtrail", "disable"]);
    expect(existsSync(join(rig.project, ".github"))).toBe(false);
  });
});

function scenarios(project: string): Scenario[] {
  const inProject = (path: string) => join(project, path);
  const secondCommand = [
    "printf 'changed by a command\\n' > src/app.txt",
    "mkdir -p deep/er && printf 'new\\n' > deep/er/file.txt",
    "rm doc.txt",
    "chmod +x run.sh",
  ].join(" && ");
  return [
    scenario("first", [
      reply("I will write it.", toolUse("create", { path: inProject("greeting.txt"), file_text: "hello\n" })),
      reply(
        "Two more things.",
        toolUse("edit", { path: inProject("src/app.txt"), old_str: "beta", new_str: "gamma" }),
        toolUse("bash", { command: "printf 'made by a command\\n' > made.txt", description: "Make a file" }),
      ),
      reply("Hello is there."),
    ]),
    scenario("second", [
      reply(
        "First the file.",
        toolUse("edit", { path: inProject("greeting.txt"), old_str: "hello", new_str: "HELLO" }),
      ),
      reply("Now the rest.", toolUse("bash", { command: secondCommand, description: "Change many things" })),
      reply(
        "A subagent does the last part.",
        toolUse("task", {
          description: "Write the helper",
          prompt: SUBTASK,
          agent_type: "general-purpose",
          name: "helper",
          mode: "sync",
        }),
      ),
      reply("It is bigger."),
    ]),
    scenario("subtask", [
      reply("Writing.", toolUse("create", { path: inProject("helper.txt"), file_text: "by the subagent\n" })),
      reply("helper.txt is written."),
    ]),
  ];
}

function gitStatus(rig: Rig): Promise<string> {
  return rig.output(["git", "status", "--porcelain", "--untracked-files=all"]);
}

function transcriptOf(rig: Rig, session: string): string {
  return join(rig.home, ".copilot/session-state", session, "events.jsonl");
}

function sorted(files: LoggedStep["files"]): LoggedStep["files"] {
  return { added: [...files.added].sort(), modified: [...files.modified].sort(), deleted: [...files.deleted].sort() };
}
