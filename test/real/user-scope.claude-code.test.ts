/**
 * The real Claude Code with hooks in its user's own settings: `enable --scope user` in one place records a turn in a
 * repository that Backtrail has never seen, and none in one that is excluded.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type LoggedStep } from "./backtrail.ts";
import { claudeCode, UNATTENDED } from "./claude-code.ts";
import { makeProject } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { reply, type Scenario, scenario, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 120_000;
const ASKED = "Write it [[write]]";
const available = await availability(claudeCode);

describe.skipIf(available.program === null)("Claude Code, recorded in every repository of its user", () => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await Rig.start(claudeCode, available.program ?? "", scenarios);
    new Backtrail(rig);
    await makeProject(rig);
    await rig.output(["backtrail", "enable", "--scope", "user", "--agent", "claude-code"]);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  /** A new repository in which the agent is asked to write a file. */
  async function turnIn(name: string): Promise<string> {
    const cwd = join(rig.home, "code", name);
    mkdirSync(cwd, { recursive: true });
    await rig.output(["git", "init", "--quiet", "--initial-branch=main"], { cwd });
    const done = await rig.run(["claude", "-p", ASKED, "--output-format", "json", ...UNATTENDED], { cwd });
    expect(done.code).toBe(0);
    expect(readFileSync(join(cwd, "written.txt"), "utf8")).toBe("written\n");
    return cwd;
  }

  test(
    "a turn in a repository that nobody has enabled is recorded, and can be taken back",
    async () => {
      const cwd = await turnIn("fresh");
      const { steps } = JSON.parse(await rig.output(["backtrail", "log", "--json"], { cwd })) as {
        steps: LoggedStep[];
      };
      const end = steps.find(({ kind }) => kind === "turn-end");
      expect(end).toMatchObject({
        agent: "claude-code",
        prompt: ASKED,
        hasTranscript: true,
        files: { added: ["written.txt"], modified: [], deleted: [] },
      });
      await rig.output(["backtrail", "rewind", "1", "--yes"], { cwd });
      expect(existsSync(join(cwd, "written.txt"))).toBe(false);
    },
    TIMEOUT_MS,
  );

  test(
    "one that is excluded gets no store",
    async () => {
      await rig.output(["backtrail", "config", "set", "scope.exclude", "~/code/clients"]);
      const cwd = await turnIn("clients/one");
      expect(existsSync(join(cwd, ".git/backtrail"))).toBe(false);
      const status = JSON.parse(await rig.output(["backtrail", "status", "--json"], { cwd })) as { enabled: boolean };
      expect(status).toMatchObject({ enabled: false, userScope: { kind: "excluded" } });
    },
    TIMEOUT_MS,
  );

  test(
    "nor does one where it was disabled, and after disable --scope user no other",
    async () => {
      const before = await turnIn("fresh-2");
      await rig.output(["backtrail", "disable"], { cwd: before });
      const count = async () => readFileSync(join(before, ".git/backtrail/steps.jsonl"), "utf8").split("\n").length;
      const recorded = await count();
      await turnIn("fresh-2");
      expect(await count()).toBe(recorded);

      await rig.output(["backtrail", "disable", "--scope", "user"]);
      expect(existsSync(join(await turnIn("late"), ".git/backtrail"))).toBe(false);
    },
    TIMEOUT_MS,
  );
});

/** By the shell, so that the file is in whichever directory the agent works in. */
function scenarios(): Scenario[] {
  const command = "echo written > written.txt";
  const write = toolUse("Bash", { command, description: "Write the file" });
  return [scenario("write", [reply("Writing.", write), reply("Written.")])];
}
