/**
 * The rig itself, proved with the real agent and the simplest of hooks: it must be trustworthy before any
 * story about Backtrail is.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudeCode, leaveClaude, openClaude, prompt } from "./claude-code.ts";
import { availability, Rig } from "./rig.ts";
import { reply, scenario, stalling, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 120_000;
const available = await availability(claudeCode);

describe.skipIf(available.program === null)("the rig with the real Claude Code", () => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await Rig.start(claudeCode, available.program ?? "", (project) => [
      scenario("write", [
        reply("I will write it.", toolUse("Write", { file_path: join(project, "a.txt"), content: "one\n" })),
        reply("Written."),
      ]),
      scenario("wait", [stalling(reply("Thinking about it for a long while"))]),
    ]);
    await rig.output(["git", "init", "--quiet"]);
    installDumpHook(rig, ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"]);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("there is no way out of the sandbox, and the agent runs in it", async () => {
    const interfaces = await rig.output(["sh", "-c", "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"]);
    expect(interfaces).toBe("lo\n");
    expect(await rig.output(["claude", "--version"])).toStartWith(claudeCode.package.version);
  });

  test(
    "headless: tools run, hooks fire, the model sees the conversation",
    async () => {
      const first = await prompt(rig, "Please [[write]] the file");
      expect(first).toMatchObject({ code: 0, result: "Written." });
      expect(readFileSync(join(rig.project, "a.txt"), "utf8")).toBe("one\n");
      expect(takeHooks(rig)).toEqual(["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"]);

      const second = await prompt(rig, "And now?", "--resume", first.sessionId);
      expect(second.result).toBe("You said: And now?");
      expect(rig.received.lastOutline({ session: first.sessionId })).toEqual([
        "user: Please [[write]] the file",
        "assistant: I will write it.",
        "assistant uses Write",
        expect.stringContaining("result: File created"),
        "assistant: Written.",
        "user: And now?",
      ]);
      takeHooks(rig);
    },
    TIMEOUT_MS,
  );

  test(
    "in a terminal: a turn, an interrupt, and the end",
    async () => {
      const terminal = await openClaude(rig);
      await terminal.submit("Hello there");
      await terminal.waitFor("You said: Hello there");
      await terminal.submit("Please [[wait]] a little");
      await terminal.waitFor("Thinking about it for a long while");
      terminal.press("Escape");
      await terminal.waitFor("Interrupted");
      await terminal.submit("Good bye");
      await terminal.waitFor("You said: Good bye");
      await leaveClaude(terminal);

      const waiting = rig.received.calls().filter((call) => call.scenario === "wait");
      expect(waiting.map((call) => rig.received.wasComplete(call))).toEqual([false]);
      expect(takeHooks(rig)).toEqual([
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
        "UserPromptSubmit",
        "UserPromptSubmit",
        "Stop",
        "SessionEnd",
      ]);
    },
    TIMEOUT_MS,
  );

  test("nothing survives the sandbox", async () => {
    await rig.output(["sh", "-c", "(sleep 300 & echo $! > lingering) >/dev/null 2>&1"]);
    const before = sleepers(rig.project);
    await rig.stop();
    expect(before).toBe(1);
    expect(sleepers(rig.project)).toBe(0);
  });
});

/** Processes that have `directory` as their working directory, seen from outside. */
function sleepers(directory: string): number {
  const cwdOf = Bun.spawnSync(["sh", "-c", 'ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -c -F -- "-> $0"', directory]);
  return Number(cwdOf.stdout.toString());
}

/** A hook that writes down its event's name, the simplest there is. */
function installDumpHook(rig: Rig, events: string[]): void {
  const hooks = Object.fromEntries(
    events.map((event) => [
      event,
      [{ hooks: [{ type: "command", command: `cat > "${rig.home}/$(date +%s%N)-${event}"`, timeout: 10 }] }],
    ]),
  );
  mkdirSync(join(rig.project, ".claude"));
  writeFileSync(join(rig.project, ".claude", "settings.local.json"), JSON.stringify({ hooks }));
}

/** The events since the last call, in order. */
const seen = new Set<string>();
function takeHooks(rig: Rig): string[] {
  const fresh = readdirSync(rig.home).filter((name) => /^\d+-/.test(name) && !seen.has(name));
  for (const name of fresh) seen.add(name);
  return fresh.sort().map((name) => name.replace(/^\d+-/, ""));
}
