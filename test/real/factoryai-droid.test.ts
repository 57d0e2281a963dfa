/**
 * The whole of Backtrail with the real Factory AI Droid, without a terminal: `droid exec`, which announces no prompt, and
 * one process with several turns, as editors drive it. Its terminal and its subagents need a login, so no story has
 * them.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Backtrail, type LoggedStep, type Restored } from "./backtrail.ts";
import { converse, driver, prompt } from "./factoryai-droid.ts";
import { FIRST, type HeadlessPage, SECOND, scenarios, TIMEOUT_MS } from "./headless-page.ts";
import { testHeadless } from "./headless-story.ts";
import { makeProject, readIn, type WorkTree, workTree } from "./project.ts";
import type { Rig } from "./rig.ts";
import { reply, scenario, slowly } from "./server/scenario.ts";

const page: HeadlessPage = {
  title: "Droid, exec",
  alias: "droid",
  adds: "hooks",
  settings: {
    path: ".factory/settings.json",
    hook: "user-prompt-submit",
    // Tabs, a key that nobody knows and no line end at the end: all of it must survive.
    users: '{\n\t"commandDenylist": ["rm -rf /"],\n\t"x-unknown": [1,2 , 3]}',
  },
  recorded: [
    { kind: "baseline", turn: 0, prompt: null },
    { kind: "turn-end", turn: 1, prompt: FIRST },
    { kind: "baseline", turn: 1, prompt: null },
    { kind: "tool", turn: 2, prompt: SECOND },
    { kind: "turn-end", turn: 2, prompt: SECOND },
  ],
  // Droid keeps a sum for each session, and a fork begins without one.
  forkCosts: null,
  firstTurn: [
    "assistant: I will write it.",
    "assistant uses Create",
    "assistant uses Read",
    expect.stringMatching(/^result: The file .* has been created/),
    expect.stringMatching(/^result: /),
    "assistant: Two more things.",
    "assistant uses Edit",
    "assistant uses Execute",
    expect.stringMatching(/^result: /),
    expect.stringMatching(/^result: /),
  ],
  async target({ backtrail }) {
    return (await backtrail.steps()).findLast((step) => step.kind === "baseline") as LoggedStep;
  },
  transcript: (rig, session) =>
    join(rig.home, ".factory/sessions", rig.project.replaceAll("/", "-"), `${session}.jsonl`),
  command: ({ session }) => `droid --resume ${session}`,
  // Droid makes its files for the user alone; what git keeps is whether they can be run.
  tree(rig): WorkTree {
    const files = Object.entries(workTree(rig));
    return Object.fromEntries(files.map(([path, content]) => [path, content.replace(/^600 /, "644 ")]));
  },
};

await testHeadless(driver, page);

const { program } = await driver.available();

describe.skipIf(program === null)("Droid, several turns in one process", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let session: string;

  beforeAll(async () => {
    rig = await driver.start(program ?? "", (project) => [
      ...scenarios(project, driver, page),
      scenario("slow", [slowly(100, reply("word ".repeat(300)))]),
    ]);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
    await rig.output(["backtrail", "enable", "--agent", "droid"]);
    session = await converse(rig, `say:${FIRST}`, "interrupt:Go on [[slow]]", `say:${SECOND}`, "compact");
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test("prompts are announced: every turn has its beginning and its end", async () => {
    expect(await rig.output(["git", "status", "--porcelain"])).not.toContain(".factory");
    const steps = (await backtrail.steps()).filter((step) => step.kind.startsWith("turn-"));
    expect(steps.map(({ kind, turn, prompt }) => [kind, turn, prompt])).toEqual([
      ["turn-start", 1, FIRST],
      ["turn-end", 1, FIRST],
      ["turn-start", 2, "Go on [[slow]]"],
      ["turn-end", 2, "Go on [[slow]]"],
      ["turn-start", 3, SECOND],
      ["turn-end", 3, SECOND],
    ]);
    expect(steps.every((step) => step.session === session)).toBe(true);
  });

  test("the turn that was stopped is known as such; a compaction is a step", async () => {
    const stopped = await backtrail.show((await backtrail.step("turn-end", "Go on [[slow]]")).id);
    expect(stopped.interrupted).toBe(true);
    const last = (await backtrail.steps()).at(-1);
    expect(await backtrail.show(last?.id ?? "")).toMatchObject({ kind: "tool", command: "/compact" });
  });

  test(
    "rewind to before the third turn leaves the first two",
    async () => {
      const target = await backtrail.step("turn-start", SECOND);
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      expect(readIn(rig, "greeting.txt")).toBe("hello\n");
      await prompt(rig, "Where were we?", "--session-id", receipt?.chat?.session ?? "");
      const heard = rig.received.lastOutline();
      expect(heard[0]).toBe(`user: ${FIRST}`);
      expect(heard).toContain("user: Go on [[slow]]");
      expect(heard).not.toContain(`user: ${SECOND}`);
      expect(heard.at(-1)).toBe("user: Where were we?");
      expect(await backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
    },
    TIMEOUT_MS,
  );
});
