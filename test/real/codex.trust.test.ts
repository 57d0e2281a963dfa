/**
 * `enable --trust` with the real Codex: hooks that nobody reviewed run at once, in a folder that nobody was asked
 * about, and Codex's own settings are afterwards as they were. The tests are one story, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Backtrail } from "./backtrail.ts";
import { codex, leaveCodex, openCodex, whenReady } from "./codex.ts";
import { makeProject } from "./project.ts";
import { availability, Rig } from "./rig.ts";

const TIMEOUT_MS = 120_000;
const available = await availability(codex);

/** Its user has never been here. */
const newcomer = {
  ...codex,
  furnish(home: string, project: string) {
    codex.furnish(home, project);
    const path = join(home, ".codex/config.toml");
    writeFileSync(path, readFileSync(path, "utf8").replace(/\[projects\..*\n.*\n/, "# The end, without a line break"));
  },
};

describe.skipIf(available.program === null)("Codex, whose user trusts Backtrail", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let before: string;

  const settings = () => readFileSync(join(rig.home, ".codex/config.toml"), "utf8");

  /** One prompt without a terminal, and without a word that anything be let through. */
  async function prompt(text: string): Promise<number> {
    const url = `model_providers.local.base_url="${rig.env["MODEL_URL"]}/v1"`;
    const done = await rig.run(["codex", "exec", "--json", "-c", url, text], { input: "" });
    return done.code;
  }

  beforeAll(async () => {
    rig = await Rig.start(newcomer, available.program ?? "", () => []);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
    before = settings();
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test(
    "without --trust nothing is written for the user, and Codex runs no hook",
    async () => {
      expect(before).toEndWith("# The end, without a line break");
      const said = await backtrail.run("enable", "--agent", "codex");
      expect(said).toMatchObject({ code: 0 });
      expect(said.stderr).toContain("new hooks wait for your review");
      expect(await prompt("Anybody there?")).toBe(0);
      expect(settings()).toBe(before);
      expect(await backtrail.steps()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test("with --trust the answer is in Codex's settings, below everything else", async () => {
    const said = await backtrail.run("enable", "--agent", "codex", "--trust");
    expect(said).toMatchObject({ code: 0 });
    expect(said.stderr).toContain("count as reviewed by you");
    expect(said.stderr).not.toContain("wait for your review");
    expect(settings()).toStartWith(before);
    expect(settings()).not.toBe(before);
    expect(await rig.output(["git", "status", "--porcelain", "--untracked-files=all"])).toBe("");
  });

  test(
    "and Codex runs the hooks: the turn is recorded",
    async () => {
      const trusted = settings();
      expect(await prompt("Are you there?")).toBe(0);
      const steps = await backtrail.steps();
      expect(steps.map(({ kind, prompt }) => ({ kind, prompt }))).toEqual([
        { kind: "turn-start", prompt: "Are you there?" },
        { kind: "turn-end", prompt: "Are you there?" },
      ]);
      expect(settings()).toBe(trusted);
    },
    TIMEOUT_MS,
  );

  test("after disable its settings are as they were", async () => {
    await rig.output(["backtrail", "disable"]);
    expect(settings()).toBe(before);
  });

  test(
    "in a terminal it asks nothing; what it writes down by itself stays after disable, and nothing of ours does",
    async () => {
      await rig.output(["backtrail", "enable", "--agent", "codex", "--trust"]);
      const terminal = await openCodex(rig);
      await whenReady(terminal);
      expect(terminal.screen()).not.toContain("Hooks need review");
      await leaveCodex(terminal);
      await rig.output(["backtrail", "disable"]);
      expect(settings()).toStartWith(before);
      expect(settings()).toContain("[tui]");
      expect(settings()).not.toMatch(/backtrail|hooks|projects|trust/);
    },
    TIMEOUT_MS,
  );
});
