/** Backtrail with the real GitHub Copilot CLI in a terminal, as a person uses it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Backtrail, type Restored } from "./backtrail.ts";
import { copilot, heard, leaveCopilot, openCopilot } from "./copilot-cli.ts";
import { makeProject, readIn } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { reply, type Scenario, scenario, stalling, toolUse } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const TIMEOUT_MS = 120_000;
const FIRST = "Say hello in a file [[first]]";
const STOPPED = "Think about it [[stall]]";
const SECOND = "Say more in it [[second]]";

const available = await availability(copilot);

describe.skipIf(available.program === null)("Copilot, in a terminal", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let terminal: Terminal;

  beforeAll(async () => {
    rig = await Rig.start(copilot, available.program ?? "", scenarios);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
    await rig.output(["backtrail", "enable", "--agent", "copilot"]);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await rig?.stop();
  });

  test(
    "in a folder that the user trusts, turns are recorded while it is open",
    async () => {
      terminal = await openCopilot(rig);
      await terminal.submit(FIRST);
      await terminal.waitFor("Hello is there.");
      const end = await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === FIRST);
      expect(end.files.added).toEqual(["greeting.txt"]);
    },
    TIMEOUT_MS,
  );

  test(
    "a turn that is stopped has no end of its own: the next prompt closes it",
    async () => {
      await terminal.submit(STOPPED);
      await terminal.waitFor("Let me think");
      terminal.press("Escape");
      await terminal.waitFor(/esc again|Operation cancelled/i);
      terminal.press("Escape");
      await terminal.waitFor("Operation cancelled by user");
      await terminal.submit(SECOND);
      await terminal.waitFor("More is there.");
      await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === SECOND);
      const stopped = await backtrail.show((await backtrail.step("turn-end", STOPPED)).id);
      expect(stopped.interrupted).toBe(true);
    },
    TIMEOUT_MS,
  );

  test(
    "a compaction is a step",
    async () => {
      await terminal.submit("/compact");
      await terminal.waitFor("Compaction completed");
      const step = await backtrail.waitForStep(({ kind }) => kind === "tool");
      expect(await backtrail.show(step.id)).toMatchObject({ command: "/compact" });
      await leaveCopilot(terminal);
    },
    TIMEOUT_MS,
  );

  test(
    "rewind, and the command that it names continues in the terminal from there",
    async () => {
      const target = await backtrail.step("turn-start", SECOND);
      const { receipt } = await backtrail.json<Restored>("rewind", target.id, "--yes");
      expect(readIn(rig, "greeting.txt")).toBe("hello\n");
      terminal = await openCopilot(rig, receipt?.chat?.command);
      await terminal.submit("Where were we?");
      await backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === "Where were we?");
      const said = heard(rig).filter((line) => line.startsWith("user: "));
      expect(said).toEqual([`user: ${FIRST}`, `user: ${STOPPED}`, "user: Where were we?"]);
      await leaveCopilot(terminal);
      expect(await backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
    },
    TIMEOUT_MS,
  );
});

function scenarios(project: string): Scenario[] {
  const path = join(project, "greeting.txt");
  return [
    scenario("first", [
      reply("I will write it.", toolUse("create", { path, file_text: "hello\n" })),
      reply("Hello is there."),
    ]),
    scenario("stall", [stalling(reply("Let me think about that "))]),
    scenario("second", [
      reply("Right.", toolUse("edit", { path, old_str: "hello", new_str: "hello again" })),
      reply("More is there."),
    ]),
  ];
}
