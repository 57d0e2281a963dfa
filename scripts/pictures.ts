/**
 * Takes the pictures in docs/pictures from a recorded day of the scripted agent, with the built executable and the
 * system's Chromium: `npm run pictures`.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { closeBrowser, open } from "../test/browser/support/browser.ts";
import { type Day, recordedDay } from "../test/browser/support/day.ts";
import { edit, write } from "../test/support/index.ts";
import { startView } from "../test/support/view/server.ts";

const target = join(import.meta.dirname, "../docs/pictures");

try {
  mkdirSync(target, { recursive: true });
  using day = await recordedDay();
  await breakSomething(day);
  await using view = await startView(day.repository, { signedOut: true });
  await using person = await open(view, { width: 1180, height: 720 });
  const { page } = person;
  const turns = page.getByRole("list", { name: "Turns" });
  const diff = page.getByRole("region", { name: "Diff" });
  await turns.getByText("broke the check").waitFor({ timeout: 120_000 });
  await turns.getByText("Look the tax up").click();
  await diff.locator("mark").first().waitFor();
  await take(page, "timeline");
  await page.getByRole("button", { name: "Undo this turn" }).click();
  await page.getByRole("dialog", { name: "Confirm" }).getByText("to write").waitFor();
  await take(page, "plan");
  await page.keyboard.press("Escape");
  await turns.getByText("Cache the prices").click();
  await diff.getByRole("button", { name: "Side by side" }).click();
  await diff.locator(".side mark").first().waitFor();
  await page.locator(".detail-pane").evaluate((pane) => pane.scrollTo(0, pane.scrollHeight));
  await take(page, "turn");
  await page.goto(`${view.base}#/time?path=src%2Fcart.js`);
  const file = page.getByRole("region", { name: "File at this moment" });
  while ((await file.locator(".line.add").count()) === 0) {
    await page.getByRole("button", { name: "Earlier" }).click();
    await page.waitForTimeout(300);
  }
  await take(page, "time");
} finally {
  await closeBrowser();
}

/** A turn after which the check fails, and an unrelated one. */
async function breakSomething({ repository, agent }: Day): Promise<void> {
  await repository.run(["check", "--", "sh", "-c", "! grep -q RATES src/price.js"]);
  await agent.turn(
    "Look the tax up by country",
    [
      edit("src/price.js", "net * 1.2", "net * RATES[country]"),
      write("src/rates.js", "export const RATES = { at: 1.2, de: 1.19, fr: 1.2 };\n"),
    ],
    "The rates are in `src/rates.js`, and `price` looks them up.",
  );
  await agent.turn("Write down the open questions", [write("TODO.md", "# Open\n\n- Which currency?\n")], "Written.");
}

async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.evaluate("document.activeElement?.blur()");
  await page.screenshot({ path: join(target, `${name}.png`) });
  console.log(`docs/pictures/${name}.png`);
}
