/**
 * A fork with the real agents: its worktree has the files of the step, the agent goes on there from exactly that point,
 * and is recorded there; then the repository is moved, and the first conversation goes on in its new place. One story an
 * agent, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { Backtrail } from "./backtrail.ts";
import * as claude from "./claude-code.ts";
import * as codex from "./codex.ts";
import * as copilot from "./copilot-cli.ts";
import * as droid from "./factoryai-droid.ts";
import * as gemini from "./gemini.ts";
import * as openCode from "./opencode.ts";
import * as pi from "./pi.ts";
import { makeProject, readIn } from "./project.ts";
import { type Available, availability, Rig } from "./rig.ts";
import { reply, type Scenario, scenario, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Now make it bigger [[second]]";
const WHERE = "Where were we?";

interface Driver {
  id: string;
  available: Available;
  start(program: string): Promise<Rig>;
  /** A turn in the project, or in the session. */
  turn(rig: Rig, text: string, session?: string): Promise<{ code: number; sessionId: string }>;
  /** A turn by a command that a person copies from the screen. */
  goOn(rig: Rig, command: string, text: string, cwd?: string): Promise<{ code: number; stderr: string }>;
}

interface Forked {
  fork: { name: string; directory: string; branch: string; chat: { session: string; command: string } | null };
  notes: string[];
}

interface Resumed {
  chat: { session: string; command: string; transcript: string };
  written: string | null;
}

const drivers: Driver[] = [
  {
    id: "claude-code",
    available: await availability(claude.claudeCode),
    start: (program) => Rig.start(claude.claudeCode, program, scenarios("Write", "file_path")),
    turn: (rig, text, session) => claude.prompt(rig, text, ...(session ? ["--resume", session] : [])),
    goOn: (rig, command, text, cwd) =>
      byShell(rig, command, ["-p", text, "--output-format", "json", ...claude.UNATTENDED], cwd),
  },
  {
    id: "codex",
    available: await availability(codex.codex),
    start: (program) => Rig.start(codex.codex, program, codexScenarios),
    turn: (rig, text, session) =>
      session ? codex.resume(rig, session, text, codex.UNREVIEWED) : codex.prompt(rig, text, codex.UNREVIEWED),
    // What is copied from the screen opens a terminal; without one it is called `exec resume`.
    goOn: (rig, command, text, cwd) => {
      const url = `model_providers.local.base_url="${rig.env["MODEL_URL"]}/v1"`;
      const flags = ["-c", url, "--dangerously-bypass-approvals-and-sandbox", codex.UNREVIEWED, "--json"];
      return byShell(rig, command.replace("codex resume", "codex exec resume"), [text, ...flags], cwd);
    },
  },
  {
    id: "gemini",
    available: await availability(gemini.geminiCli),
    start: (program) => Rig.start(gemini.geminiCli, program, scenarios("write_file", "file_path")),
    turn: (rig, text, session) => gemini.prompt(rig, text, ...(session ? ["--resume", session] : [])),
    goOn: (rig, command, text, cwd) => byShell(rig, command, ["-p", text, "--output-format", "json", "--yolo"], cwd),
  },
  {
    id: "pi",
    available: await pi.piAvailability(),
    start: (program) => pi.startPi(program, scenarios("write", "path")),
    turn: (rig, text, session) => pi.prompt(rig, text, ...(session ? ["--session", session] : [])),
    goOn: (rig, command, text, cwd) => byShell(rig, command, ["--mode", "json", "--approve", text], cwd),
  },
  {
    id: "opencode",
    available: await openCode.openCodeAvailability(),
    start: (program) => Rig.start(openCode.openCode, program, scenarios("write", "filePath")),
    turn: (rig, text, session) => openCode.prompt(rig, text, ...(session ? ["-s", session] : [])),
    // Without a network it would wait for a package in each directory that it sees for the first time.
    async goOn(rig, command, text, cwd) {
      const place = cwd ?? /^cd (\S+) &&/.exec(command)?.[1] ?? rig.project;
      if (place !== cwd) await rig.output(["cp", "-rn", `${rig.project}/.opencode/.`, `${place}/.opencode/`]);
      const headless = command.replace("opencode -s", "opencode run --format json -s");
      return byShell(rig, headless, [], cwd, text);
    },
  },
  {
    id: "factoryai-droid",
    available: await droid.whereDroidRuns(),
    async start(program) {
      const rig = await Rig.start(droid.droid, program, scenarios("Create", "file_path"));
      droid.nameModel(rig);
      return rig;
    },
    turn: (rig, text, session) => droid.prompt(rig, text, ...(session ? ["--session-id", session] : [])),
    // What is copied from the screen opens a terminal; without one it is called `exec --session-id`.
    goOn: (rig, command, text, cwd) => {
      const flags = ["--model", droid.MODEL, "--auto", "high", "--output-format", "json", text];
      return byShell(rig, command.replace("droid --resume", "droid exec --session-id"), flags, cwd);
    },
  },
  {
    id: "copilot-cli",
    available: await availability(copilot.copilot),
    start: (program) => Rig.start(copilot.copilot, program, copilotScenarios),
    turn: (rig, text, session) => copilot.prompt(rig, text, ...(session ? [`--resume=${session}`] : [])),
    goOn: (rig, command, text, cwd) =>
      byShell(rig, `export COPILOT_ALLOW_ALL=true; ${command}`, ["-p", text, "--output-format", "json"], cwd),
  },
];

for (const driver of drivers) {
  describe.skipIf(driver.available.program === null)(`a fork with ${driver.id}`, () => {
    let rig: Rig;
    let backtrail: Backtrail;
    let session: string;
    let forked: Forked;

    beforeAll(async () => {
      rig = await driver.start(driver.available.program ?? "");
      await makeProject(rig);
      backtrail = new Backtrail(rig);
      await rig.output(["backtrail", "enable", "--agent", driver.id]);
      const first = await driver.turn(rig, FIRST);
      expect(first.code).toBe(0);
      session = first.sessionId;
      expect(await driver.turn(rig, SECOND, session)).toMatchObject({ code: 0 });
      expect(readIn(rig, "greeting.txt")).toBe("HELLO\n");
    }, TIMEOUT_MS);

    afterAll(async () => {
      await rig?.stop();
    });

    test("has the files of the step, on a branch of its own; git shows nothing of ours", async () => {
      const target = await backtrail.step("turn-end", FIRST);
      forked = await backtrail.json<Forked>("fork", target.id, "--branch", "again");
      const { directory } = forked.fork;
      expect(readFileSync(join(directory, "greeting.txt"), "utf8")).toBe("hello\n");
      expect(readIn(rig, "greeting.txt")).toBe("HELLO\n");
      expect(await rig.output(["git", "status", "--porcelain"], { cwd: directory })).toBe("?? greeting.txt\n");
      expect(await rig.output(["git", "branch", "--show-current"], { cwd: directory })).toBe("again\n");
    });

    test(
      "the agent goes on there from exactly that point",
      async () => {
        const command = forked.fork.chat?.command ?? "";
        expect(command).toStartWith(`cd ${forked.fork.directory} && `);
        expect(await driver.goOn(rig, command, WHERE)).toMatchObject({ code: 0 });
        expect(prompts(rig)).toEqual([FIRST, WHERE]);
      },
      TIMEOUT_MS,
    );

    test("and is recorded there", async () => {
      const { forks } = await backtrail.json<{ forks: { name: string; turns: number }[] }>("fork", "list");
      expect(forks).toMatchObject([{ name: "again", turns: 1 }]);
    });

    test(
      "a repository that was moved: the conversation goes on in the new place",
      async () => {
        const moved = join(rig.project, "../moved");
        renameSync(rig.project, moved);
        const resumed = JSON.parse(
          await rig.output(["backtrail", "resume", session, "--json"], { cwd: moved }),
        ) as Resumed;
        expect(resumed.written).not.toBeNull();
        expect(await driver.goOn(rig, resumed.chat.command, WHERE, moved)).toMatchObject({ code: 0 });
        expect(prompts(rig)).toEqual([FIRST, SECOND, WHERE]);
      },
      TIMEOUT_MS,
    );
  });
}

const [claudeDriver] = drivers;

describe.skipIf(!claudeDriver || claudeDriver.available.program === null)("a checkpoint on a second clone", () => {
  let rig: Rig;

  afterAll(async () => {
    await rig?.stop();
  });

  test(
    "Claude Code goes on there, in another home, with what the checkpoint holds",
    async () => {
      rig = await (claudeDriver as Driver).start(claudeDriver?.available.program ?? "");
      await makeProject(rig);
      new Backtrail(rig);
      await rig.output(["backtrail", "enable", "--agent", "claude-code"]);
      const { sessionId } = await claude.prompt(rig, FIRST);
      await rig.output(["git", "add", "--all"]);
      await rig.output(["git", "commit", "--quiet", "--message", "Hello"]);
      const checkpoint = /Entire-Checkpoint: (\w+)/.exec(await rig.output(["git", "log", "-1", "--format=%B"]))?.[1];
      await until(rig, checkpoint ?? "");

      const place = join(rig.project, "..");
      const home = join(place, "other-home");
      const clone = join(place, "clone");
      mkdirSync(home);
      claude.claudeCode.furnish(home, clone);
      await rig.output(["git", "clone", "--quiet", rig.project, clone], { cwd: place });
      await rig.output(["git", "fetch", "--quiet", "origin", "entire/checkpoints/v1"], { cwd: clone });
      const env = { HOME: home, BACKTRAIL_HOME: join(home, ".backtrail") };
      const done = await rig.run(["backtrail", "resume", checkpoint ?? "", "--json"], { cwd: clone, env });
      expect(done).toMatchObject({ code: 0 });
      const { chat } = JSON.parse(done.stdout) as Resumed;
      expect(chat.session).toBe(sessionId);
      expect(existsSync(chat.transcript)).toBe(true);
      const goOn = ["-p", WHERE, "--output-format", "json", ...claude.UNATTENDED];
      const answered = await rig.run(["sh", "-c", `${chat.command} "$@"`, "sh", ...goOn], { cwd: clone, env });
      expect(answered.code).toBe(0);
      expect(prompts(rig)).toEqual([FIRST, WHERE]);
    },
    TIMEOUT_MS,
  );
});

/** Checkpoints are written behind the commit. */
async function until(rig: Rig, checkpoint: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  while ((await rig.run(["backtrail", "explain", checkpoint])).code !== 0) {
    if (Date.now() > deadline) throw new Error("the checkpoint was never written");
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** What the user said in the conversation that the model was sent last; Copilot puts the time before it. */
function prompts(rig: Rig): string[] {
  const lines = rig.received.lastOutline().filter((line) => line.startsWith("user: "));
  return lines.map((line) => line.slice(6).replace(/<current_datetime>.*?<\/current_datetime>\s*/g, ""));
}

async function byShell(rig: Rig, command: string, args: string[], cwd?: string, input = "") {
  const done = await rig.run(["sh", "-c", `${command} "$@"`, "sh", ...args], { input, ...(cwd ? { cwd } : {}) });
  return { code: done.code, stderr: done.stderr };
}

function scenarios(tool: string, field: string): (project: string) => Scenario[] {
  const write = (project: string, content: string) =>
    toolUse(tool, { [field]: join(project, "greeting.txt"), content });
  return (project) => [
    scenario("first", [reply("I will write it.", write(project, "hello\n")), reply("Hello is there.")]),
    scenario("second", [reply("Bigger.", write(project, "HELLO\n")), reply("It is bigger.")]),
  ];
}

function copilotScenarios(project: string): Scenario[] {
  const path = join(project, "greeting.txt");
  const bigger = toolUse("edit", { path, old_str: "hello", new_str: "HELLO" });
  return [
    scenario("first", [reply("I will.", toolUse("create", { path, file_text: "hello\n" })), reply("Hello is there.")]),
    scenario("second", [reply("Bigger.", bigger), reply("It is bigger.")]),
  ];
}

function codexScenarios(): Scenario[] {
  const patch = (...lines: string[]) => {
    const text = ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
    return toolUse("exec", { input: `text(await tools.apply_patch(${JSON.stringify(text)}));` });
  };
  const bigger = patch("*** Update File: greeting.txt", "@@", "-hello", "+HELLO");
  return [
    scenario("first", [
      reply("I will write it.", patch("*** Add File: greeting.txt", "+hello")),
      reply("Hello is there."),
    ]),
    scenario("second", [reply("Bigger.", bigger), reply("It is bigger.")]),
  ];
}
