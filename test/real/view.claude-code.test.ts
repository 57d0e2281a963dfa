/**
 * The real Claude Code works while the page of `backtrail view` is open in Chromium: its turn appears, a person undoes
 * it from the page, and the agent goes on. Server, browser and agent are all inside the sandbox. One story, in order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { launch, open, type Person, program, skipReason } from "../browser/support/browser.ts";
import { startViewBy, type ViewProcess } from "../support/view/server.ts";
import { Backtrail } from "./backtrail.ts";
import { claudeCode, prompt } from "./claude-code.ts";
import { makeProject, readIn } from "./project.ts";
import { availability, Rig } from "./rig.ts";
import { reply, type Scenario, scenario, toolUse } from "./server/scenario.ts";

const TIMEOUT_MS = 180_000;
const FIRST = "Add gamma to the app [[one]]";
const SECOND = "Explain the app [[two]]";

if (skipReason) process.stderr.write(`SKIPPED: the page beside the real claude-code: ${skipReason}\n`);
const available = await availability(claudeCode);

describe.skipIf(program === undefined || available.program === null)("Claude Code, beside the page", () => {
  let rig: Rig;
  let view: ViewProcess;
  let browser: Browser;
  let person: Person;
  let session: string;

  beforeAll(async () => {
    rig = await Rig.start(claudeCode, available.program ?? "", scenarios);
    await makeProject(rig);
    const backtrail = new Backtrail(rig);
    await backtrail.run("enable", "--agent", "claude-code");
    const inProject = ["sh", "-c", 'cd "$0" && exec "$@"', rig.project];
    view = await startViewBy(rig.sandbox.enter([...inProject, "backtrail", "view", "--no-open", "--json"]), {
      env: rig.env,
    });
    browser = await launch(enteringProgram(rig));
    person = await open(view, { browser });
    person.page.setDefaultTimeout(90_000);
    await person.page.getByText("No turns yet").waitFor();
    await person.page.getByTitle("Live", { exact: true }).waitFor();
  }, TIMEOUT_MS);

  afterAll(async () => {
    await browser?.close();
    await rig?.stop();
    await view?.ended;
  });

  const turns = () => person.page.getByRole("list", { name: "Turns" }).getByRole("listitem");

  test(
    "its turn appears on the open page, with the exact diff",
    async () => {
      const working = prompt(rig, FIRST);
      const turn = turns().filter({ hasText: "Add gamma to the app" });
      await turn.waitFor();
      const done = await working;
      expect(done, done.stderr).toMatchObject({ code: 0, result: "Gamma is there." });
      session = done.sessionId;
      await turn.getByText("running").waitFor({ state: "detached" });
      await turn.getByRole("link").first().click();
      await person.page.getByRole("region", { name: "Diff" }).getByText("gamma", { exact: true }).waitFor();
      await person.page.getByRole("region", { name: "Answer" }).getByText("Gamma is there.").waitFor();
      expect(readIn(rig, "src/app.txt")).toBe("alpha\nbeta\ngamma\n");
    },
    TIMEOUT_MS,
  );

  test(
    "it is undone from the page, and the files change",
    async () => {
      const { page } = person;
      await page.getByRole("button", { name: "Undo this turn" }).click();
      const dialog = page.getByRole("dialog", { name: "Confirm" });
      await dialog.getByText("1 file to write").waitFor();
      await dialog.getByRole("button", { name: "Confirm undo" }).click();
      await page.getByRole("region", { name: "Receipt" }).getByText("Undone: 1 file written").waitFor();
      expect(readIn(rig, "src/app.txt")).toBe("alpha\nbeta\n");
      await turns().filter({ hasText: "Add gamma" }).getByText("undone", { exact: true }).waitFor();
    },
    TIMEOUT_MS,
  );

  test(
    "the agent goes on in the same conversation, and the page shows it",
    async () => {
      const done = await prompt(rig, SECOND, "--resume", session);
      expect(done, done.stderr).toMatchObject({ code: 0, result: "Explained." });
      expect(rig.received.lastOutline()).toContain(`user: ${FIRST}`);
      await turns().filter({ hasText: "Explain the app" }).getByText("+1").waitFor();
      expect(await turns().filter({ hasText: "Add gamma" }).getByText("undone", { exact: true }).count()).toBe(1);
      expect(person.problems).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

/** A program that starts Chromium inside the sandbox: the browser's driver wants one file. */
function enteringProgram(rig: Rig): string {
  const place = join(rig.home, "chromium");
  const words = rig.sandbox.enter([program ?? ""]).map((word) => `'${word}'`);
  writeFileSync(place, `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`, { mode: 0o755 });
  return place;
}

function scenarios(project: string): Scenario[] {
  const file_path = join(project, "src/app.txt");
  return [
    scenario("one", [
      reply("I look.", toolUse("Read", { file_path })),
      reply("I add it.", toolUse("Edit", { file_path, old_string: "beta\n", new_string: "beta\ngamma\n" })),
      reply("Gamma is there."),
    ]),
    scenario("two", [
      reply("I write.", toolUse("Write", { file_path: join(project, "explained.txt"), content: "two letters\n" })),
      reply("Explained."),
    ]),
  ];
}
