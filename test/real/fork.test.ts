/**
 * A fork with the real agents: its worktree has the files of the step, the agent goes on there from exactly that point,
 * and is recorded there; then the repository is moved, and the first conversation goes on in its new place. One story an
 * agent, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { type AgentDriver, lookAt, promptsHeard } from "./agent-driver.ts";
import { Backtrail } from "./backtrail.ts";
import { driver as claude, claudeCode, UNATTENDED } from "./claude-code.ts";
import { driver as codex } from "./codex.ts";
import { driver as copilot } from "./copilot-cli.ts";
import { driver as droid } from "./factoryai-droid.ts";
import { driver as gemini } from "./gemini.ts";
import { driver as kilo } from "./kilo.ts";
import { driver as kimi } from "./kimi-code.ts";
import { driver as openCode } from "./opencode.ts";
import { driver as pi } from "./pi.ts";
import { makeProject, readIn } from "./project.ts";
import { driver as qwen } from "./qwen.ts";
import type { Rig } from "./rig.ts";
import { reply, type Scenario, scenario } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;
const FIRST = "Say hello in a file [[first]]";
const SECOND = "Now make it bigger [[second]]";
const WHERE = "Where were we?";

interface Forked {
  fork: { name: string; directory: string; branch: string; chat: { session: string; command: string } | null };
  notes: string[];
}

interface Resumed {
  chat: { session: string; command: string; transcript: string };
  written: string | null;
}

for (const driver of [claude, codex, gemini, pi, openCode, droid, copilot, qwen, kimi, kilo]) {
  const { program } = await driver.available();
  describe.skipIf(program === null)(`a fork with ${driver.id}`, () => {
    let rig: Rig;
    let backtrail: Backtrail;
    let session: string;
    let forked: Forked;

    beforeAll(async () => {
      rig = await driver.start(program ?? "", (project) => scenarios(project, driver));
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

    test("has the files of the step, on a separate branch; git does not show Backtrail's files", async () => {
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
        expect(promptsHeard(driver, rig)).toEqual([FIRST, WHERE]);
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
        expect(promptsHeard(driver, rig)).toEqual([FIRST, SECOND, WHERE]);
      },
      TIMEOUT_MS,
    );
  });
}

const { program } = await claude.available();

describe.skipIf(program === null)("a checkpoint on a second clone", () => {
  let rig: Rig;

  afterAll(async () => {
    await rig?.stop();
  });

  test(
    "Claude Code goes on there, in another home, with what the checkpoint holds",
    async () => {
      rig = await claude.start(program ?? "", (project) => scenarios(project, claude));
      await makeProject(rig);
      new Backtrail(rig);
      await rig.output(["backtrail", "enable", "--agent", "claude-code"]);
      await rig.output(["backtrail", "config", "set", "checkpoints.branch", "public"]);
      const { sessionId } = await claude.turn(rig, FIRST);
      await rig.output(["git", "add", "--all"]);
      await rig.output(["git", "commit", "--quiet", "--message", "Hello"]);
      const checkpoint = /Entire-Checkpoint: (\w+)/.exec(await rig.output(["git", "log", "-1", "--format=%B"]))?.[1];
      await until(rig, checkpoint ?? "");

      const place = join(rig.project, "..");
      const home = join(place, "other-home");
      const clone = join(place, "clone");
      mkdirSync(home);
      claudeCode.furnish(home, clone);
      await rig.output(["git", "clone", "--quiet", rig.project, clone], { cwd: place });
      await rig.output(["git", "fetch", "--quiet", "origin", "entire/checkpoints/v1"], { cwd: clone });
      const env = { HOME: home, BACKTRAIL_HOME: join(home, ".backtrail") };
      const done = await rig.run(["backtrail", "resume", checkpoint ?? "", "--json"], { cwd: clone, env });
      expect(done).toMatchObject({ code: 0 });
      const { chat } = JSON.parse(done.stdout) as Resumed;
      expect(chat.session).toBe(sessionId);
      expect(existsSync(chat.transcript)).toBe(true);
      const goOn = ["-p", WHERE, "--output-format", "json", ...UNATTENDED];
      const answered = await rig.run(["sh", "-c", `${chat.command} "$@"`, "sh", ...goOn], { cwd: clone, env });
      expect(answered.code).toBe(0);
      expect(promptsHeard(claude, rig)).toEqual([FIRST, WHERE]);
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

function scenarios(project: string, { tools }: AgentDriver): Scenario[] {
  const path = join(project, "greeting.txt");
  return [
    scenario("first", [reply("I will write it.", tools.write(path, "hello\n")), reply("Hello is there.")]),
    scenario("second", [
      ...lookAt(path, tools),
      reply("Bigger.", tools.edit(path, "hello", "HELLO")),
      reply("It is bigger."),
    ]),
  ];
}
