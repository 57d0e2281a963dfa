/** A summary by the agent itself, told with any real agent that can be asked without tools. */
import { describe, expect, test } from "bun:test";
import type { AgentDriver } from "./agent-driver.ts";
import { Backtrail } from "./backtrail.ts";
import { makeProject } from "./project.ts";
import type { Rig } from "./rig.ts";
import { answering, reply, type Scenario, scenario } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;
const SECRET = "ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789";
const SUMMARY = {
  intent: "A greeting was wanted.",
  outcome: `It is in first.txt, and ${SECRET} is gone.`,
  learnings: {
    repo: ["Greetings are files."],
    code: [{ path: "first.txt", line: 1, finding: "It greets." }],
    workflow: [],
  },
  friction: [],
  open_items: ["Say goodbye."],
};

interface Explained {
  checkpoints: { sessions: { metadata: { session_id: string; summary?: typeof SUMMARY } }[] }[];
}

/** `name`: as runs call the agent. */
export async function testSummary(driver: AgentDriver, name: string): Promise<void> {
  const { program } = await driver.available();
  describe.skipIf(program === null)(`${driver.id}, asked for a summary`, () => {
    test(
      "it is asked without tools, nobody's session comes of it, and the summary stays with the checkpoint",
      async () => {
        const rig = await driver.start(program ?? "", (project) => scenarios(project, driver));
        try {
          await story(rig, driver.id, name);
        } finally {
          await rig.stop();
        }
      },
      TIMEOUT_MS,
    );
  });
}

function scenarios(project: string, { tools }: AgentDriver): Scenario[] {
  return [
    // Before the others: the record that it is about holds their marks.
    answering(/^Below, between the two marks/, reply(`Here it is:\n\`\`\`json\n${JSON.stringify(SUMMARY)}\n\`\`\``)),
    scenario("first", [reply("I will.", tools.write(`${project}/first.txt`, "hello\n")), reply("It is written.")]),
  ];
}

async function story(rig: Rig, id: string, name: string): Promise<void> {
  const backtrail = new Backtrail(rig);
  await makeProject(rig);
  await rig.output(["backtrail", "enable", "--agent", id]);
  await rig.output(["backtrail", "config", "set", "checkpoints.branch", "public"]);
  await rig.output(["backtrail", "run", `Greet with ${SECRET} [[first]]`, "--agent", name]);
  await rig.output(["git", "add", "first.txt"]);
  await rig.output(["git", "commit", "-m", "Greet"]);
  const before = await until(backtrail, ({ checkpoints }) => checkpoints.length > 0);
  expect(before.checkpoints[0]?.sessions[0]?.metadata.summary).toBeUndefined();
  const sessions = await backtrail.json("sessions");
  const steps = await backtrail.steps();
  const tip = await rig.output(["git", "rev-parse", "entire/checkpoints/v1"]);
  const asked = rig.received.all().length;

  const after = await backtrail.json<Explained>("explain", "--summarise", "--agent", name);
  const kept = { ...SUMMARY, outcome: expect.stringMatching(/^It is in first\.txt, and \[secret:[^\]]+\] is gone\.$/) };
  expect(after.checkpoints[0]?.sessions[0]?.metadata.summary).toEqual(kept);
  expect((await backtrail.json<Explained>("explain")).checkpoints[0]?.sessions[0]?.metadata.summary).toEqual(kept);
  expect(await rig.output(["git", "rev-parse", "entire/checkpoints/v1^"])).toBe(tip);
  expect(await rig.output(["backtrail", "explain"])).toContain("Say goodbye.");

  const calls = rig.received.all().slice(asked);
  const question = calls.filter((call) => JSON.stringify(call.conversation).includes("between the two marks"));
  expect(question).not.toBeEmpty();
  const given = JSON.stringify(question.at(-1)?.conversation);
  expect(given).toContain("It is written.");
  expect(given).not.toContain(SECRET);
  // Nothing that could change anything.
  expect(question.flatMap((call) => call.tools).filter((tool) => /write|edit|bash|shell|replace/i.test(tool))).toEqual(
    [],
  );

  // It is nobody's session, and what is summarized is not asked for again.
  expect(await backtrail.json("sessions")).toEqual(sessions);
  expect(await backtrail.steps()).toEqual(steps);
  const soFar = rig.received.all().length;
  await rig.output(["backtrail", "explain", "--summarise", "--agent", name]);
  expect(rig.received.all()).toHaveLength(soFar);
}

/** Checkpoints are written in the background. */
async function until(backtrail: Backtrail, holds: (explained: Explained) => boolean): Promise<Explained> {
  const end = performance.now() + 30_000;
  for (;;) {
    const explained = await backtrail.json<Explained>("explain").catch(() => ({ checkpoints: [] }));
    if (holds(explained)) return explained;
    if (performance.now() > end) throw new Error("No checkpoint was written.");
    await Bun.sleep(200);
  }
}
