/**
 * Undo with the real Claude Code: three turns in one file, the second with a subagent. The subagent's work is taken back
 * alone, then the whole second turn, and the third stays. The tests are one story, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Backtrail, type Restored } from "./backtrail.ts";
import { claudeCode, prompt } from "./claude-code.ts";
import { makeProject, readIn, writeIn } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { reply, type Scenario, scenario, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;
const LINES = Array.from({ length: 12 }, (_, i) => `line ${i + 1}\n`).join("");
const TURNS = ["Name the first line [[one]]", "Name the sixth line [[two]]", "Name the last line [[three]]"] as const;
const SUBTASK = "[[subtask]] Write helper.txt and name the ninth line";

const available = await availability(claudeCode);

describe.skipIf(available.program === null)("Claude Code, undone", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let session: string;

  beforeAll(async () => {
    rig = await Rig.start(claudeCode, available.program ?? "", scenarios);
    await makeProject(rig);
    writeIn(rig, "lines.txt", LINES);
    await rig.output(["git", "add", "lines.txt"]);
    await rig.output(["git", "commit", "--quiet", "-m", "Lines"]);
    backtrail = new Backtrail(rig);
    await rig.output(["backtrail", "enable", "--agent", "claude-code"]);
    for (const [i, text] of TURNS.entries()) {
      const done = await prompt(rig, text, ...(i === 0 ? [] : ["--resume", session]));
      expect(done, done.stderr).toMatchObject({ code: 0 });
      session = done.sessionId;
    }
    const all = LINES.replace("line 1\n", "first\n").replace("line 6\n", "sixth\n").replace("line 12\n", "last\n");
    expect(readIn(rig, "lines.txt")).toBe(all.replace("line 9\n", "ninth\n"));
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("a subagent's work alone", async () => {
    const steps = await backtrail.steps();
    const task = steps.find((step) => step.kind === "task");
    const { plan } = await backtrail.json<Restored>("undo", task?.id ?? "", "--yes");
    expect(plan).toMatchObject({ write: ["lines.txt"], delete: ["helper.txt"] });
    const text = readIn(rig, "lines.txt");
    expect([text.includes("line 9\n"), text.includes("sixth\n"), text.includes("last\n")]).toEqual([true, true, true]);
    await backtrail.json("redo", "--yes");
    expect([readIn(rig, "helper.txt"), readIn(rig, "lines.txt").includes("ninth\n")]).toEqual(["helper\n", true]);
  });

  test("the second of three turns with its subagent; the third stays, and so does what the user did", async () => {
    writeIn(rig, "lines.txt", readIn(rig, "lines.txt").replace("line 3\n", "the user's\n"));
    const { plan, receipt } = await backtrail.json<Restored>("undo", "2", "--yes");
    expect(plan).toMatchObject({ write: ["lines.txt"], delete: ["helper.txt"], conflicts: [] });
    expect(receipt?.chat).toBeNull();
    const left = LINES.replace("line 1\n", "first\n")
      .replace("line 3\n", "the user's\n")
      .replace("line 12\n", "last\n");
    expect(readIn(rig, "lines.txt")).toBe(left);
    expect(existsSync(join(rig.project, "helper.txt"))).toBe(false);
  });

  test(
    "the conversation goes on as it was, and its next turn can be undone too",
    async () => {
      const done = await prompt(rig, "Write more [[four]]", "--resume", session);
      expect(done, done.stderr).toMatchObject({ code: 0, result: "More is there." });
      const heard = rig.received.lastOutline();
      for (const text of TURNS) expect(heard).toContain(`user: ${text}`);
      expect((await backtrail.json<Restored>("undo", "last", "--yes")).plan).toMatchObject({ delete: ["more.txt"] });
      expect(await backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
    },
    TIMEOUT_MS,
  );
});

function scenarios(project: string): Scenario[] {
  const at = (path: string) => join(project, path);
  const edit = (before: string, after: string) =>
    toolUse("Edit", { file_path: at("lines.txt"), old_string: `${before}\n`, new_string: `${after}\n` });
  const read = toolUse("Read", { file_path: at("lines.txt") });
  return [
    scenario("one", [reply("I look.", read), reply("I name it.", edit("line 1", "first")), reply("Named.")]),
    scenario("two", [
      reply("I look.", read),
      reply("I name it.", edit("line 6", "sixth")),
      reply(
        "A subagent does the rest.",
        toolUse("Agent", {
          description: "Write the helper",
          prompt: SUBTASK,
          subagent_type: "general-purpose",
          run_in_background: false,
        }),
      ),
      reply("Named."),
    ]),
    scenario("subtask", [
      reply("I look.", read),
      reply(
        "I write.",
        toolUse("Write", { file_path: at("helper.txt"), content: "helper\n" }),
        edit("line 9", "ninth"),
      ),
      reply("Written."),
    ]),
    scenario("three", [reply("I look.", read), reply("I name it.", edit("line 12", "last")), reply("Named.")]),
    scenario("four", [
      reply("I write.", toolUse("Write", { file_path: at("more.txt"), content: "more\n" })),
      reply("More is there."),
    ]),
  ];
}
