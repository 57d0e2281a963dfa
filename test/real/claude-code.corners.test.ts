/** The real Claude Code where things do not go as they should: kills, errors, compaction, company, no git. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type Restored } from "./backtrail.ts";
import { claudeCode, prompt, shellPrompt, UNATTENDED } from "./claude-code.ts";
import { makeProject, readIn, workTree, writeIn } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { answering, failing, reply, type Scenario, scenario, slowly, stalling, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 120_000;
const available = await availability(claudeCode);

describe.skipIf(available.program === null)("Claude Code, in the corners", () => {
  let rig: Rig;
  let backtrail: Backtrail;

  beforeEach(async () => {
    rig = await Rig.start(claudeCode, available.program ?? "", scenarios);
    backtrail = new Backtrail(rig);
  }, TIMEOUT_MS);

  afterEach(async () => {
    await rig?.stop();
  });

  async function enabledProject(): Promise<void> {
    await makeProject(rig);
    await rig.output(["backtrail", "enable", "--agent", "claude-code"]);
  }

  test(
    "an agent that is killed in its turn loses nothing",
    async () => {
      await enabledProject();
      const asked = "Think about it [[broken]]";
      const agent = rig.run(["sh", "-c", 'echo $$ > "$HOME/pid"; exec claude "$@"', "sh", "-p", asked, ...UNATTENDED]);
      await until(() => rig.received.calls().some((call) => call.scenario === "broken" && call.index === 1));
      await rig.output(["sh", "-c", 'kill -KILL "$(cat "$HOME/pid")"']);
      await agent;
      const again = await prompt(rig, "Who was that?");
      expect(again.code).toBe(0);
      const end = await backtrail.show((await backtrail.step("turn-end", asked)).id);
      expect(end).toMatchObject({ interrupted: true, files: { added: ["half.txt"], modified: [], deleted: [] } });
    },
    TIMEOUT_MS,
  );

  test(
    "a turn that ends in an error of the model's is still a turn",
    async () => {
      await enabledProject();
      const asked = "Do what cannot be done [[refused]]";
      await prompt(rig, asked);
      expect(rig.received.last().status).toBe(400);
      // `status` changes nothing: the hooks alone have closed the turn, before any other command could.
      const { sessions } = await backtrail.json<{ sessions: unknown[] }>("status");
      expect(sessions).toMatchObject([{ phase: "ENDED", turns: 1, steps: 2 }]);
      const end = await backtrail.step("turn-end", asked);
      expect(end.files).toEqual({ added: ["half.txt"], modified: [], deleted: [] });
    },
    TIMEOUT_MS,
  );

  test(
    "what was compacted comes back whole",
    async () => {
      await enabledProject();
      const asked = "Write it [[whole]]";
      const { sessionId } = await prompt(rig, asked);
      const before = workTree(rig);
      await prompt(rig, "/compact", "--resume", sessionId);
      await prompt(rig, "Go on", "--resume", sessionId);
      expect(rig.received.lastOutline({ session: sessionId }).join("\n")).toContain("all that was said");

      const target = await backtrail.step("turn-end", asked);
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      expect(workTree(rig)).toEqual(before);
      await shellPrompt(rig, receipt?.chat?.command ?? "", "Where were we?");
      expect(rig.received.lastOutline()).toEqual([
        `user: ${asked}`,
        "assistant: Writing.",
        "assistant uses Write",
        expect.stringMatching(/^result: File created/),
        "assistant: Written.",
        "user: Where were we?",
      ]);
    },
    TIMEOUT_MS,
  );

  test(
    "two agents at once in one work tree: each turn has its own files",
    async () => {
      await enabledProject();
      const [left, right] = ["Go left [[left]]", "Go right [[right]]"];
      const both = await Promise.all([prompt(rig, left), prompt(rig, right)]);
      expect(both.map((done) => done.code)).toEqual([0, 0]);
      const ends = await Promise.all([left, right].map((asked) => backtrail.step("turn-end", asked)));
      expect(ends.map((end) => end.files.added)).toEqual([["left.txt"], ["right.txt"]]);
      await rig.output(["backtrail", "doctor", "--check"]);
    },
    TIMEOUT_MS,
  );

  test(
    "a folder that is no repository is recorded and taken back as well",
    async () => {
      writeIn(rig, "kept.txt", "kept\n");
      await rig.output(["backtrail", "enable", "--agent", "claude-code"]);
      expect(await backtrail.json("status")).toMatchObject({ enabled: true, store: { kind: "private" } });
      const asked = "Write it [[whole]]";
      expect((await prompt(rig, asked)).code).toBe(0);
      expect(readIn(rig, "whole.txt")).toBe("whole\n");
      const start = await backtrail.step("turn-start", asked);
      await backtrail.json<Restored>("rewind", start.id, "--yes");
      expect(existsSync(join(rig.project, "whole.txt"))).toBe(false);
      expect(readIn(rig, "kept.txt")).toBe("kept\n");
      expect(existsSync(join(rig.project, ".git"))).toBe(false);
    },
    TIMEOUT_MS,
  );

  test(
    "a Backtrail that has been removed leaves the agent alone",
    async () => {
      await enabledProject();
      const command = JSON.parse(readFileSync(join(rig.project, ".claude/settings.local.json"), "utf8"));
      expect(JSON.stringify(command)).toContain("/bin/backtrail");
      rig.removeBacktrail();
      const done = await prompt(rig, "Write it [[whole]]");
      expect(done).toMatchObject({ code: 0, result: "Written.", stderr: "" });
    },
    TIMEOUT_MS,
  );
});

function scenarios(project: string): Scenario[] {
  const write = (path: string) =>
    toolUse("Write", { file_path: join(project, path), content: `${path.replace(".txt", "")}\n` });
  const together = (side: string) =>
    scenario(side, [
      slowly(20, reply("A long way to go before anything at all is written.", write(`${side}.txt`))),
      slowly(20, reply("And a long way to go afterwards, so that both are at work at once.")),
    ]);
  return [
    scenario("broken", [reply("Half of it.", write("half.txt")), stalling(reply("The other half"))]),
    scenario("refused", [reply("Half of it.", write("half.txt")), failing(400, "this is not possible")]),
    scenario("whole", [reply("Writing.", write("whole.txt")), reply("Written.")]),
    answering(/create a detailed summary of/, reply("<summary>all that was said</summary>")),
    together("left"),
    together("right"),
  ];
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error("it never came to that");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
