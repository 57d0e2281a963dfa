/** The real Aider in a terminal, with `backtrail watch` beside it: each prompt is one turn, whatever Aider asks. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { aiderAvailability, openAider, startRig } from "./aider.ts";
import { Backtrail } from "./backtrail.ts";
import { makeProject } from "./project.ts";
import type { Rig } from "./rig.ts";
import { reply, scenario } from "./server/scenario.ts";
import type { Terminal } from "./terminal.ts";

const TIMEOUT_MS = 240_000;
/** Longer than the silence after which a turn ends. */
const LONG_PAUSE_MS = 6_000;
const { program } = await aiderAvailability();

describe.skipIf(program === null)("Aider, watched", () => {
  let rig: Rig;
  let backtrail: Backtrail;
  let watching: Terminal;
  let terminal: Terminal;

  beforeAll(async () => {
    rig = await startRig(program ?? "", () => [
      scenario("first", [reply("I write it.\n\ngreeting.txt\n```\nhello\n```\n")]),
      scenario("second", [reply("Bigger.\n\ndoc.txt\n```\nDOCUMENTATION\n```\n")]),
    ]);
    await makeProject(rig);
    backtrail = new Backtrail(rig);
    await rig.output(["sh", "-c", "echo '.aider*' >> .git/info/exclude"]);
    await rig.output(["backtrail", "enable", "--agent", "aider"]);
    watching = await rig.terminal(["backtrail", "watch"]);
    await watching.waitFor("Following");
    terminal = await openAider(rig);
  }, TIMEOUT_MS);

  afterAll(async () => {
    terminal?.close();
    watching?.close();
    await rig?.stop();
  });

  const ends = async () => (await backtrail.steps()).filter(({ kind }) => kind === "turn-end");

  /** One Enter: a second one would answer a question. */
  async function say(text: string): Promise<void> {
    terminal.press("-l", "--", text);
    await terminal.waitFor(text);
    terminal.press("Enter");
  }

  async function untilSaved(times: number): Promise<void> {
    await watching.waitFor(new RegExp(`(?:saved[\\s\\S]*){${times}}`));
  }

  test(
    "a turn in which Aider asks, and its user thinks about it, is one turn with its file and its tokens",
    async () => {
      await say("Say hello in a file [[first]]");
      await terminal.waitFor("Create new file?");
      await Bun.sleep(LONG_PAUSE_MS);
      expect(await ends()).toEqual([]);
      await say("y");
      await terminal.waitFor("Applied edit to greeting.txt");
      await untilSaved(1);
      expect(existsSync(join(rig.project, "greeting.txt"))).toBe(true);
      const [end, ...others] = await ends();
      expect(others).toEqual([]);
      expect(end).toMatchObject({ turn: 1, prompt: "Say hello in a file [[first]]" });
      expect(end?.files.added).toEqual(["greeting.txt"]);
      const shown = await backtrail.show(end?.id ?? "");
      expect(shown.tokens?.output).toBeGreaterThan(0);
      expect(shown.response).toContain("I write it.");
    },
    TIMEOUT_MS,
  );

  test(
    "a command that asks nothing of the model is no turn",
    async () => {
      await say("/add doc.txt");
      await terminal.waitFor("Added doc.txt to the chat");
      await Bun.sleep(LONG_PAUSE_MS);
      expect((await ends()).length).toBe(1);
      await say("Make it bigger [[second]]");
      await terminal.waitFor("Applied edit to doc.txt");
      await untilSaved(2);
      const steps = await backtrail.steps();
      expect(steps.map(({ kind, turn, prompt }) => [kind, turn, prompt])).toEqual([
        ["turn-start", 1, "Say hello in a file [[first]]"],
        ["turn-end", 1, "Say hello in a file [[first]]"],
        ["turn-start", 2, "Make it bigger [[second]]"],
        ["turn-end", 2, "Make it bigger [[second]]"],
      ]);
      expect(steps.at(-1)?.files).toMatchObject({ added: [], modified: ["doc.txt"] });
    },
    TIMEOUT_MS,
  );

  test("rewind undoes only the last turn", async () => {
    await rig.output(["backtrail", "rewind", "1", "--yes"]);
    expect(readFileSync(join(rig.project, "doc.txt"), "utf8")).toBe("Documentation\n");
    expect(existsSync(join(rig.project, "greeting.txt"))).toBe(true);
  });
});
