/**
 * Takes the pictures in docs/pictures from a recorded day of the scripted agent, with the built executable and the
 * system's Chromium. Started by `npm run pictures`.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { closeBrowser, open } from "../test/browser/support/browser.ts";
import { recordedDay } from "../test/browser/support/day.ts";
import { startView } from "../test/support/view/server.ts";

const target = join(import.meta.dirname, "../docs/pictures");

try {
  mkdirSync(target, { recursive: true });
  using day = await recordedDay();
  await using view = await startView(day.repository, { signedOut: true });
  await using person = await open(view, { width: 1180, height: 720 });
  const { page } = person;
  const turns = page.getByRole("list", { name: "Turns" });
  await turns.getByText("Cache the prices").click();
  await page.getByRole("region", { name: "Diff" }).getByText("known.set").waitFor();
  await take(page, "turn");
  await turns.getByText("Rename total").click();
  await page.getByRole("region", { name: "Diff" }).getByText("sum(items)").waitFor();
  await take(page, "timeline");
  await turns.getByText("Add the tax").click();
  await page.getByRole("button", { name: "Rewind to before this turn" }).click();
  await page.getByRole("dialog", { name: "Confirm" }).getByText("Not undone by this").waitFor();
  await take(page, "plan");
  await page.keyboard.press("Escape");
  await page.goto(`${view.base}#/time?path=src%2Fcart.js`);
  await page.getByRole("region", { name: "File at this moment" }).getByText("in cents").waitFor();
  await take(page, "time");
} finally {
  await closeBrowser();
}

async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(target, `${name}.png`) });
  console.log(`docs/pictures/${name}.png`);
}
