/** What a run with the real Claude Code costs: estimated while it works, told at its end, and the same both ways. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Backtrail } from "./backtrail.ts";
import { claudeCode } from "./claude-code.ts";
import { makeProject } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { reply, scenario, stalling, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;
const available = await availability(claudeCode);

interface Cost {
  usd: number;
  estimated: boolean;
}

describe.skipIf(available.program === null)("the cost of Claude Code's runs", () => {
  test(
    "an estimate is what the agent tells itself, and a budget in dollars is held while it works",
    async () => {
      const rig = await Rig.start(claudeCode, available.program ?? "", (project) => {
        const write = (name: string) => toolUse("Write", { file_path: join(project, name), content: "x\n" });
        return [
          scenario("frugal", [reply("I will write it.", write("a.txt")), reply("It is written.")]),
          // Without an end of its own: only the budget ends it.
          scenario("spends", [reply("One.", write("1")), reply("Two.", write("2")), stalling(reply("Three."))]),
        ];
      });
      try {
        await makeProject(rig);
        const backtrail = new Backtrail(rig);
        await rig.output(["backtrail", "enable", "--agent", "claude-code"]);
        const done = await rig.run(["backtrail", "run", "Write it [[frugal]]", "--budget", "$5"]);
        expect(done).toMatchObject({ code: 0, stderr: "" });
        const { sessions } = await backtrail.json<{ sessions: { cost: Cost }[] }>("sessions");
        const { step } = await backtrail.json<{ step: { kind: string; cost: Cost } }>("show", "last");
        expect(step.kind).toBe("turn-end");
        expect(sessions[0]?.cost.estimated).toBe(false);
        expect(step.cost).toEqual({ usd: sessions[0]?.cost.usd ?? 0, estimated: true });

        const told = (sessions[0]?.cost.usd ?? 0) * 0.7;
        const stopped = await rig.run(["backtrail", "run", "Spend [[spends]]", "--budget", `$${told.toFixed(6)}`]);
        expect(stopped.code).toBe(1);
        // Interrupted, it may still tell its own sum.
        expect(stopped.stderr).toMatch(/^error: claude was stopped at (?:~ )?\$0\.\d+, over its budget\.$/m);
      } finally {
        await rig.stop();
      }
    },
    TIMEOUT_MS,
  );
});
