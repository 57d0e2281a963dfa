/**
 * Backtrail with a real agent in a terminal, as a person uses it: turns recorded while the agent stays open, one of them
 * broken off, a conversation that is compacted, and the commands that rewinds show, typed as they are. One story for
 * every agent, its tests in order; what is an agent's own stands on its page.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AgentDriver, heardBy, usageOf } from "./agent-driver.ts";
import { Backtrail, type LoggedStep, type Restored } from "./backtrail.ts";
import { except, makeProject, readIn, workTree } from "./project.ts";
import type { Terminal } from "./terminal.ts";
import {
  AFTERWARDS,
  BROKEN,
  FIRST,
  HALF,
  LEFT,
  SECOND,
  scenarios,
  type TerminalPage,
  type TerminalStory,
  TIMEOUT_MS,
} from "./terminal-page.ts";

export async function testInTerminal(driver: AgentDriver, page: TerminalPage): Promise<void> {
  const { program } = await driver.available();
  describe.skipIf(program === null)(`${driver.name}, in a terminal`, () => {
    // Filled in as the story goes on.
    const story = {
      turnEnd: (prompt) => story.backtrail.waitForStep((step) => step.kind === "turn-end" && step.prompt === prompt),
      async afterRewind({ id }, prompt) {
        const { receipt } = await story.backtrail.json<Restored>("rewind", id, "--yes");
        const session = receipt?.chat?.session ?? "";
        const fork = await page.open(story.rig, receipt?.chat?.command ?? "");
        await say(page, fork, prompt);
        await fork.waitFor(echo(page, prompt));
        await story.backtrail.waitForStep((step) => step.kind === "turn-end" && step.session === session);
        await page.leave(fork);
        return page.heard?.(story.rig, session) ?? heardBy(driver, story.rig);
      },
    } as TerminalStory;

    beforeAll(async () => {
      story.rig = await driver.start(program ?? "", (project) => scenarios(project, driver, page));
      await makeProject(story.rig);
      story.backtrail = new Backtrail(story.rig);
    }, TIMEOUT_MS);

    afterAll(async () => {
      await story.rig?.stop();
    });

    test("enable makes a file that git does not see", async () => {
      const { rig } = story;
      await rig.output(["backtrail", "enable", "--agent", driver.id]);
      expect(existsSync(join(rig.project, page.made))).toBe(true);
      expect(await rig.output(["git", "status", "--porcelain", "--untracked-files=all"])).toBe("");
    });

    recording(driver, page, story);
    leaving(page, story);
    goingBack(page, story);
    page.own?.rewound?.(story);
    redoMerge(page, story);
    page.own?.redone?.(story);

    test("all invariants hold, and disable takes away what enable made", async () => {
      expect(await story.backtrail.run("doctor", "--check", "--json")).toMatchObject({ code: 0 });
      await story.rig.output(["backtrail", "disable"]);
      if (page.leaves) expect(readIn(story.rig, page.made)).toBe(page.leaves);
      else expect(existsSync(join(story.rig.project, page.made))).toBe(false);
    });
  });
}

function recording(driver: AgentDriver, page: TerminalPage, story: TerminalStory): void {
  test(
    page.first?.title ?? "a turn is recorded while the agent stays open",
    async () => {
      const { rig } = story;
      story.terminal = await (page.first?.open(rig) ?? page.open(rig));
      await say(page, story.terminal, FIRST);
      await story.terminal.waitFor("Hello is there.");
      const end = await story.turnEnd(FIRST);
      expect(end.files).toEqual({ added: ["greeting.txt", "made.txt"], modified: [], deleted: [] });
      if (page.shows) expect(story.terminal.screen({ history: true })).toContain(page.shows);
      story.beforeSecond = workTree(rig);
    },
    TIMEOUT_MS,
  );

  test(
    "a second turn, with a command that removes a file",
    async () => {
      const { rig, backtrail } = story;
      await say(page, story.terminal, SECOND);
      await story.terminal.waitFor("It is bigger.");
      const end = await backtrail.show((await story.turnEnd(SECOND)).id);
      expect(end).toMatchObject({ interrupted: false, response: "It is bigger." });
      expect(end.files).toMatchObject({ modified: ["greeting.txt"], deleted: ["doc.txt"] });
      // A subagent in the background may write its file before the turn ends, after it, or at that very moment: Claude
      // Code writes `helper.txt.tmp.<pid>.<hex>` first and renames it.
      const bySubagent = (path: string) => page.background !== undefined && /^helper\.txt(\.tmp\.|$)/.test(path);
      expect(end.files.added.filter((path) => !bySubagent(path))).toEqual([]);
      const said = page.background ? 4 : 3;
      const calls = rig.received.calls().filter((call) => call.scenario === "second" && call.index < said);
      expect(end.tokens).toEqual(usageOf(driver, calls));
      expect(end.model).toBe(page.model ?? driver.model ?? calls[0]?.model ?? "");
      expect((await toolSteps(backtrail)).map((step) => step.turn)).toEqual([2]);
    },
    TIMEOUT_MS,
  );

  page.own?.second?.(story);

  test(
    `a turn that is broken off is recorded ${page.endsAtOnce ? "at once" : "when the next one begins"}`,
    async () => {
      const { backtrail, terminal } = story;
      await say(page, terminal, BROKEN);
      await terminal.waitFor("I am still thinking");
      await page.stop(terminal);
      if (page.endsAtOnce) await story.turnEnd(BROKEN);
      await page.between?.(terminal);
      await say(page, terminal, AFTERWARDS);
      await terminal.waitFor(echo(page, AFTERWARDS));
      await story.turnEnd(AFTERWARDS);
      const end = await backtrail.show((await backtrail.step("turn-end", BROKEN)).id);
      expect(end.interrupted).toBe(true);
      expect(end.files).toEqual({ added: ["half.txt"], modified: [], deleted: [] });
      if (page.keepsHalf) expect(end.response).toBe(HALF);
    },
    TIMEOUT_MS,
  );

  page.own?.broken?.(story);

  const { compaction } = page;
  if (!compaction) return;
  test(
    "a compaction is a step, and the session goes on",
    async () => {
      const { backtrail, terminal } = story;
      await say(page, terminal, compaction.command);
      await terminal.waitFor(compaction.done);
      const { id } = await backtrail.waitForStep((step) => step.kind === "tool" && step.turn === 4);
      expect(await backtrail.show(id)).toMatchObject({ command: "/compact" });
      await say(page, terminal, LEFT);
      await terminal.waitFor(echo(page, LEFT));
      const { session } = await story.turnEnd(LEFT);
      const steps = await backtrail.steps();
      expect(new Set(steps.map((step) => step.session))).toEqual(new Set([session]));
      expect(steps.filter((step) => step.kind === "turn-end").map((step) => step.turn)).toEqual([1, 2, 3, 4, 5]);
      expect(steps.filter((step) => step.kind === "tool")).toHaveLength(2);
    },
    TIMEOUT_MS,
  );
}

function leaving(page: TerminalPage, story: TerminalStory): void {
  test(
    "leaving ends the session, once, and no turn",
    async () => {
      const { rig, backtrail } = story;
      const before = await backtrail.steps();
      await page.leave(story.terminal);
      expect(await backtrail.steps()).toEqual(before);
      const { sessions } = await backtrail.json<{ sessions: unknown[] }>("status");
      expect(sessions).toMatchObject([{ phase: "ENDED", turns: before.at(-1)?.turn ?? 0 }]);
      story.atTheEnd = workTree(rig);
    },
    TIMEOUT_MS,
  );
}

function goingBack(page: TerminalPage, story: TerminalStory): void {
  test(
    "rewind to before the second turn, and the agent goes on from exactly there",
    async () => {
      const { rig, backtrail, beforeSecond } = story;
      const heard = await story.afterRewind(await backtrail.step("turn-start", SECOND), "Where were we");
      expect(heard).toEqual([`user: ${FIRST}`, ...page.firstTurn, "assistant: Hello is there.", "user: Where were we"]);
      expect(except(workTree(rig), "notes.log")).toEqual(except(beforeSecond, "notes.log"));
      expect(readIn(rig, "notes.log")).toBe("written by a command\n");
    },
    TIMEOUT_MS,
  );

  if (!page.middle) return;
  test(
    "rewind into the middle: the broken turn is there, the one after it is not",
    async () => {
      const { rig, backtrail } = story;
      const heard = await story.afterRewind(await backtrail.step("turn-end", BROKEN), "And after that");
      expect(readIn(rig, "half.txt")).toBe("half\n");
      const prompts = heard.filter((line) => line.startsWith("user: "));
      expect(prompts.filter((line) => [FIRST, SECOND, BROKEN, AFTERWARDS].includes(line.slice(6)))).toEqual(
        [FIRST, SECOND, BROKEN].map((prompt) => `user: ${prompt}`),
      );
      expect(heard.at(-1)).toBe("user: And after that");
    },
    TIMEOUT_MS,
  );
}

function redoMerge(page: TerminalPage, story: TerminalStory): void {
  test(`redo${page.middle ? ", twice," : ""} brings everything back`, async () => {
    const { rig, backtrail, beforeSecond } = story;
    if (page.middle) {
      await backtrail.json<Restored>("redo", "--yes");
      expect(except(workTree(rig), "notes.log")).toEqual(except(beforeSecond, "notes.log"));
    }
    await backtrail.json<Restored>("redo", "--yes");
    expect(workTree(rig)).toEqual(story.atTheEnd);
  });
}

function say(page: TerminalPage, terminal: Terminal, line: string): Promise<void> {
  return page.say?.(terminal, line) ?? terminal.submit(line);
}

function echo(page: TerminalPage, prompt: string): string | RegExp {
  return page.echo?.(prompt) ?? `You said: ${prompt}`;
}

async function toolSteps(backtrail: Backtrail): Promise<LoggedStep[]> {
  return (await backtrail.steps()).filter((step) => step.kind === "tool");
}
