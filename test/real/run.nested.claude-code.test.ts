/** The real Claude Code starts runs in its own shell: each finds its parent by itself, in the log and in the record. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Backtrail } from "./backtrail.ts";
import { claudeCode, prompt } from "./claude-code.ts";
import { makeProject } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { reply, type Scenario, scenario, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;
const available = await availability(claudeCode);

interface Listed {
  id: string;
  parent: string | null;
  prompt: string;
  log: string | null;
  recorded: boolean;
  children: string[];
}

const shell = (command: string) => toolUse("Bash", { command, description: "Ask another agent" });

function scenarios(): Scenario[] {
  return [
    scenario("outer", [reply("I ask another.", shell('backtrail run "Look [[inner]]"')), reply("It has looked.")]),
    scenario("inner", [reply("I looked.")]),
    scenario("terminal", [reply("I ask as well.", shell('backtrail run "Look [[deeper]]"')), reply("So it was.")]),
    scenario("deeper", [reply("I looked, too.")]),
  ];
}

describe.skipIf(available.program === null)("Claude Code, asking itself", () => {
  test(
    "a run in a run, and a run in a session that only hooks know",
    async () => {
      const rig = await Rig.start(claudeCode, available.program ?? "", scenarios);
      try {
        const backtrail = new Backtrail(rig);
        await makeProject(rig);
        await rig.output(["backtrail", "enable", "--agent", "claude-code"]);
        const outer = await rig.run([
          "backtrail",
          "run",
          "Ask [[outer]]",
          "--output",
          "text",
          "--",
          "--allowedTools",
          "Bash",
        ]);
        expect(outer).toMatchObject({ code: 0, stdout: "It has looked.\n" });
        // Not by us: what its shell knows comes from the file of variables that hooks write.
        const terminal = await prompt(rig, "Ask [[terminal]]");
        expect(terminal).toMatchObject({ code: 0, result: "So it was." });

        const { sessions } = await backtrail.json<{ sessions: Listed[] }>("sessions");
        expect(sessions).toHaveLength(4);
        const by = (mark: string) => sessions.find((session) => session.prompt.includes(`[[${mark}]]`)) as Listed;
        expect(by("outer")).toMatchObject({ parent: null, recorded: true, children: [by("inner").id] });
        expect(by("inner")).toMatchObject({ parent: by("outer").id, recorded: true });
        expect(by("terminal")).toMatchObject({
          id: terminal.sessionId,
          parent: null,
          log: null,
          children: [by("deeper").id],
        });
        expect(by("deeper")).toMatchObject({ parent: terminal.sessionId, recorded: true });
        // The logs say so, and so do the records of the hooks.
        const status = await backtrail.json<{ sessions: { id: string; parent: string | null }[] }>("status");
        for (const mark of ["inner", "deeper"]) {
          const { id, parent, log } = by(mark);
          const [, meta = ""] = readFileSync(log ?? "", "utf8").split("\n");
          expect(JSON.parse(meta)).toEqual({ type: "aiwr_meta", parent_id: parent });
          expect(status.sessions.find((session) => session.id === id)?.parent).toBe(parent);
        }
      } finally {
        await rig.stop();
      }
    },
    TIMEOUT_MS,
  );
});
