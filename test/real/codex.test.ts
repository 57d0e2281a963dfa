/**
 * The whole of Backtrail with the real Codex, without a terminal: two turns recorded, taken back, continued from
 * there, brought back, and Backtrail taken out again. The tests are one story, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type LoggedStep, type Restored } from "./backtrail.ts";
import { codex, NOTIFY, prompt, resume, SCRIPTING_MODEL, UNREVIEWED } from "./codex.ts";
import { except, makeProject, readIn, type WorkTree, workTree, writeIn } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { totalUsage } from "./server/received.ts";
import { reply, type Scenario, scenario, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 120_000;
const HOOKS = ".codex/hooks.json";
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Now make it bigger [[second]]";
const SUBTASK = "[[subtask]] Write helper.txt";

const available = await availability(codex);

describe.skipIf(available.program === null)("Codex, headless", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let session: string;
  let beforeSecond: WorkTree;
  let afterSecond: WorkTree;

  beforeAll(async () => {
    rig = await Rig.start(codex, available.program ?? "", scenarios);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("enable adds hooks, says that they must be reviewed, and git sees nothing new", async () => {
    const said = await backtrail.run("enable", "--agent", "codex");
    expect(said).toMatchObject({ code: 0 });
    expect(said.stderr).toContain("review");
    expect(await rig.output(["git", "status", "--porcelain", "--untracked-files=all"])).toBe("");
    expect(readIn(rig, HOOKS)).toContain("hooks codex user-prompt-submit");
    const { agents } = await backtrail.json<{ agents: unknown[] }>("status");
    expect(agents).toContainEqual({ id: "codex", hooks: "installed", scope: "local" });
  });

  test(
    "hooks that nobody reviewed are passed over by Codex: nothing is recorded, nothing is circumvented",
    async () => {
      expect(await prompt(rig, "Hello?")).toMatchObject({ code: 0, result: "You said: Hello?" });
      expect(await backtrail.steps()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    "two turns run as they would without Backtrail",
    async () => {
      const first = await prompt(rig, FIRST, UNREVIEWED);
      expect(first).toMatchObject({ code: 0, result: "Hello is there." });
      session = first.sessionId;
      writeIn(rig, "README.md", "# Example\n\nWritten by the user between two turns\n");
      beforeSecond = workTree(rig);

      const second = await resume(rig, session, SECOND, UNREVIEWED);
      expect(second).toMatchObject({ code: 0, result: "It is bigger.", sessionId: session });
      afterSecond = workTree(rig);
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
      ].map((step) => ({ ...step, session, agent: "codex" })),
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
    expect(turns.every((step) => step.hasTranscript)).toBe(true);
  });

  test("a step says what the agent answered and what it cost", async () => {
    for (const [text, scenarios, answer] of [
      [FIRST, ["first"], "Hello is there."],
      [SECOND, ["second", "subtask"], "It is bigger."],
    ] as const) {
      const shown = await backtrail.show((await backtrail.step("turn-end", text)).id);
      const calls = rig.received.all().filter((call) => scenarios.some((name) => name === call.scenario));
      expect(shown.response).toBe(answer);
      expect(shown.tokens).toEqual(totalUsage(calls));
      expect(shown.model).toBe(SCRIPTING_MODEL);
      expect(shown.interrupted).toBe(false);
    }
  });

  test("the subagent has steps of its own below the turn that started it", async () => {
    const start = await backtrail.step("turn-start", SECOND);
    const tasks = (await backtrail.steps()).filter((step) => step.kind === "task");
    expect(tasks.every((task) => task.turn === 2 && task.parent === start.id && task.session === session)).toBe(true);
    const end = await backtrail.show(tasks.at(-1)?.id ?? "");
    expect(end.prompt).toBe(SUBTASK);
    expect(end.files).toEqual({ added: ["helper.txt"], modified: [], deleted: [] });
    expect(end.tokens).toEqual(totalUsage(rig.received.all().filter((call) => call.subagent !== null)));
    expect(end.response).toBe("helper.txt is written.");
  });

  test("there is a step from just before the command that removes files", async () => {
    const tools = (await backtrail.steps()).filter((step) => step.kind === "tool");
    expect(tools.map((step) => step.turn)).toEqual([2]);
  });

  test(
    "rewind to before the second turn, and the agent goes on from exactly there",
    async () => {
      const target = await backtrail.step("turn-start", SECOND);
      const original = readFileSync(await transcriptOf(rig, session), "utf8");
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");

      expect(except(workTree(rig), "notes.log")).toEqual(except(beforeSecond, "notes.log"));
      expect(readIn(rig, "notes.log")).toBe("written by a command\n");
      expect(readFileSync(await transcriptOf(rig, session), "utf8")).toBe(original);
      expect(receipt?.chat?.agent).toBe("codex");
      const fork = receipt?.chat?.session ?? "";
      expect(receipt?.chat?.command).toBe(`codex resume ${fork}`);

      const resumed = await resume(rig, fork, "Where were we?", UNREVIEWED);
      expect(resumed).toMatchObject({ code: 0, result: "You said: Where were we?", sessionId: fork });
      expect(rig.received.lastOutline()).toEqual([
        `user: ${FIRST}`,
        "assistant: I will write it.",
        "assistant uses exec",
        expect.stringMatching(/^result: /),
        "assistant: Two more things.",
        "assistant uses exec",
        expect.stringMatching(/^result: /),
        "assistant: Hello is there.",
        "user: Where were we?",
      ]);
      expect(readFileSync(await transcriptOf(rig, session), "utf8")).toBe(original);
    },
    TIMEOUT_MS,
  );

  test(
    "what the fork does is recorded as a session of its own, and can be taken back as well",
    async () => {
      const end = await backtrail.step("turn-end", "Where were we?");
      expect(end).toMatchObject({ turn: 1, agent: "codex" });
      expect(end.session).not.toBe(session);
      const { receipt } = await backtrail.json<Restored>("rewind", end.id, "--chat-only", "--yes");
      await resume(rig, receipt?.chat?.session ?? "", "Still there?", UNREVIEWED);
      const heard = rig.received.lastOutline().filter((line) => !/^(result|assistant)/.test(line));
      expect(heard).toEqual([`user: ${FIRST}`, "user: Where were we?", "user: Still there?"]);
    },
    TIMEOUT_MS,
  );

  test(
    "redo brings everything back, and the agent knows both turns again",
    async () => {
      // The last one concerned the conversation alone.
      await backtrail.json<Restored>("redo", "--yes");
      await backtrail.json<Restored>("redo", "--yes");
      expect(workTree(rig)).toEqual(afterSecond);
      await resume(rig, session, "And now?", UNREVIEWED);
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

  test(
    "the older `notify` is understood where it is configured",
    async () => {
      const before = (await backtrail.steps()).length;
      const alone = await prompt(rig, "Only notified", ...NOTIFY);
      const end = await backtrail.waitForStep((step) => step.prompt === "Only notified");
      expect(end).toMatchObject({ kind: "turn-end", session: alone.sessionId, hasTranscript: true });
      expect(await backtrail.steps()).toHaveLength(before + 1);
    },
    TIMEOUT_MS,
  );

  test("all invariants hold, and disable takes away the file that enable made", async () => {
    expect(await backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
    await rig.output(["backtrail", "disable"]);
    expect(existsSync(join(rig.project, HOOKS))).toBe(false);
  });
});

/** The model writes scripts, which call its tools. */
function script(...calls: string[]) {
  return toolUse("exec", { input: calls.map((call) => `text(await ${call});`).join("\n") });
}

const patch = (...lines: string[]) =>
  `tools.apply_patch(${JSON.stringify(["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n"))})`;
const shell = (cmd: string) => `tools.exec_command(${JSON.stringify({ cmd })})`;

function scenarios(): Scenario[] {
  const secondCommand = [
    "printf 'changed by a command\\n' > src/app.txt",
    "mkdir -p deep/er && printf 'new\\n' > deep/er/file.txt",
    "rm doc.txt",
    "chmod +x run.sh",
    "printf 'written by a command\\n' > notes.log",
  ].join(" && ");
  return [
    scenario("first", [
      reply("I will write it.", script(patch("*** Add File: greeting.txt", "+hello"))),
      reply(
        "Two more things.",
        script(
          patch("*** Update File: src/app.txt", "@@", "-beta", "+gamma"),
          shell("printf 'made by a command\\n' > made.txt"),
        ),
      ),
      reply("Hello is there."),
    ]),
    scenario("second", [
      reply("First the file.", script(patch("*** Update File: greeting.txt", "@@", "-hello", "+HELLO"))),
      reply("Now the rest.", script(shell(secondCommand))),
      reply(
        "A subagent does the last part.",
        toolUse("spawn_agent", { task_name: "helper", message: SUBTASK, fork_turns: "none" }),
      ),
      reply(toolUse("wait_agent", { timeout_ms: 20_000 })),
      reply("It is bigger."),
    ]),
    scenario("subtask", [
      reply("Writing.", script(patch("*** Add File: helper.txt", "+by the subagent"))),
      reply("helper.txt is written."),
    ]),
  ];
}

async function transcriptOf(rig: Rig, session: string): Promise<string> {
  const found = await rig.output(["find", join(rig.home, ".codex/sessions"), "-name", `*${session}.jsonl`]);
  return found.trim();
}

function sorted(files: LoggedStep["files"]): LoggedStep["files"] {
  return {
    added: [...files.added].sort(),
    modified: [...files.modified].sort(),
    deleted: [...files.deleted].sort(),
  };
}
