/** Every screen without violations of axe-core, in light and dark, wide and narrow. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { edit } from "../support/index.ts";
import { McpClient } from "../support/mcp.ts";
import { startView, type ViewProcess } from "../support/view/server.ts";
import { closeBrowser, type Look, open, openFile, program } from "./support/browser.ts";
import { type Day, recordedDay } from "./support/day.ts";

const AXE = readFileSync(join(import.meta.dirname, "../../node_modules/axe-core/axe.min.js"), "utf8");
const LOOKS: Record<string, Look> = {
  "light, wide": {},
  "dark, wide": { dark: true },
  "light, narrow": { width: 360, height: 780 },
  "dark, narrow": { width: 360, height: 780, dark: true },
};

interface Violations {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
}

/** What axe-core finds on the screen as it is. */
async function violationsOf(page: Page, screen: string): Promise<string[]> {
  // Files below the window load when one scrolls to them.
  await page.locator(".skeleton:not(.file-body .skeleton)").first().waitFor({ state: "detached" });
  // The page's own rules forbid scripts from elsewhere: the debugger may add them all the same.
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate("axe.run()")) as Violations;
  return violations.map(
    ({ id, nodes }) => `${screen}: ${id} ${nodes[0]?.html.slice(0, 160)} ${nodes[0]?.failureSummary}`,
  );
}

/** As an agent does, through MCP. */
async function propose({ repository }: Day): Promise<void> {
  await using client = await McpClient.connect(repository);
  const turn = /^([k-z]{12}): .*\n> Explain the shop/m.exec(await client.ask("turns"))?.[1] ?? "";
  await client.ask("propose_undo", { turn, reason: "The README says too much." });
}

describe.skipIf(program === undefined)("accessibility, in Chromium", () => {
  let day: Day;
  let commit: string;

  beforeAll(async () => {
    day = await recordedDay();
    commit = day.repository.git("rev-parse", "HEAD");
    await day.repository.run(["fork", "1", "--branch", "another-way"]);
    await propose(day);
    await day.agent.turn("Tell all of it", [], "Every word counts. ".repeat(400));
    await day.agent.begin("Keep running");
    await day.agent.act(edit("README.md", "A small shop", "A large shop"));
    // Elsewhere, so that it is not a change of the work tree.
    const file = join(day.repository.home, "session.html");
    expect((await day.repository.run(["export", "last", "-o", file])).code).toBe(0);
  }, 60_000);

  afterAll(async () => {
    day[Symbol.dispose]();
    await closeBrowser();
  });

  for (const [name, look] of Object.entries(LOOKS))
    test(`no screen has a violation: ${name}`, async () => {
      await using view: ViewProcess = await startView(day.repository, { signedOut: true });
      await using person = await open(view, look);
      const { page } = person;
      const turn = page.getByRole("list", { name: "Turns" }).getByText("Cache the prices").first();
      await turn.waitFor();
      const found: string[] = [];
      const check = async (screen: string) => {
        found.push(...(await violationsOf(page, screen)));
      };
      await page.getByRole("region", { name: "Proposals" }).getByText("says too much").waitFor();
      await check("timeline and a proposal");
      await turn.click();
      await page.getByRole("region", { name: "Diff" }).getByText("known.set").waitFor();
      await check("turn");
      await page.getByRole("button", { name: "Undo this turn" }).click();
      await page.getByRole("dialog", { name: "Confirm" }).getByText("file", { exact: false }).first().waitFor();
      await check("plan");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByRole("dialog", { name: "Confirm" }).getByLabel("Name").waitFor();
      await check("save");
      await page.getByRole("button", { name: "Confirm save" }).click();
      await page.getByRole("region", { name: "Receipt" }).waitFor();
      await check("receipt");
      await page.getByRole("button", { name: "Close the receipt" }).click();
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
      await check("keys");
      await page.keyboard.press("Escape");
      const screens = ["time?path=src%2Fcart.js", `session/${day.agent.session}`, "sessions", "search?q=cache"];
      screens.push("blame/src%2Fcart.js", "commits", `commit/${commit}`, "forks", "runs", "repositories", "nowhere");
      screens.push("time", "search", "search?q=nothinglikethis");
      for (const screen of screens) {
        await page.goto(`${view.base}#/${screen}`);
        await page.locator("main h2, main input[type=range]").first().waitFor();
        await check(screen);
      }
      await page.goto(`${view.base}#/forks`);
      await page.getByRole("list", { name: "Forks" }).getByRole("link").first().click();
      await page.getByRole("table").waitFor();
      await check("fork");
      for (const [prompt, shown] of [
        ["Tell all of it", "Every word counts."],
        ["Keep running", "A large shop"],
      ] as const) {
        await page.goto(`${view.base}#/`);
        await page.getByRole("list", { name: "Turns" }).getByText(prompt).first().click();
        await page.getByRole("article", { name: "Turn" }).getByText(shown).first().waitFor();
        await check(prompt);
      }
      await using reader = await openFile(pathToFileURL(join(day.repository.home, "session.html")).href, look);
      await reader.page.getByRole("article", { name: "Conversation" }).waitFor();
      found.push(...(await violationsOf(reader.page, "an exported session")));
      await reader.page.getByRole("link", { name: "Show the turn" }).first().click();
      await reader.page.getByRole("region", { name: "Diff" }).waitFor();
      found.push(...(await violationsOf(reader.page, "a turn of an exported session")));
      expect(found).toEqual([]);
      expect(person.problems).toEqual([]);
    }, 180_000);
});
