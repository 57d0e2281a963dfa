/** A person without a mouse takes work back, and one with changes of their own gets them back. */
import { afterAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { closeBrowser, program } from "./support/browser.ts";
import { openTaxedShop } from "./support/day.ts";

afterAll(closeBrowser);

const MAX_TABS = 150;
const FOCUSED = "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? ''";

/** Presses Tab until the control with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let i = 0; i < MAX_TABS; i++) {
    await page.keyboard.press("Tab");
    if (String(await page.evaluate(FOCUSED)).trim() === name) return;
  }
  throw new Error(`Tab does not reach "${name}".`);
}

describe.skipIf(program === undefined)("by keyboard, in Chromium", () => {
  test("undoes a turn and redoes it without a mouse", async () => {
    await using shop = await openTaxedShop();
    const { repository, person, page } = shop;
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").waitFor();
    await page.keyboard.press("g");
    await page.getByRole("heading", { level: 2, name: "Add the tax" }).waitFor();
    await page.getByRole("button", { name: "Undo this turn" }).waitFor();
    await tabTo(page, "Undo this turn");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    await dialog.getByText("1 file to write").waitFor();
    // The focus is in the dialog, and Tab does not leave it for what is below.
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press("Tab");
      expect(
        await page.evaluate(
          "document.activeElement === document.body || !!document.activeElement.closest('dialog, [role=dialog]')",
        ),
      ).toBe(true);
    }
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(repository.read("src/price.js")).toContain("1.2");

    await tabTo(page, "Undo this turn");
    await page.keyboard.press("Enter");
    await dialog.getByText("1 file to write").waitFor();
    await tabTo(page, "Confirm undo");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Receipt" }).getByText("Undone: 1 file written").waitFor();
    expect(repository.read("src/price.js")).toBe("export const price = (net) => net;\n");
    // The focus is on the receipt: the next stop is in it, not at the top of the page.
    await page.waitForFunction("document.activeElement?.getAttribute('aria-label') === 'Receipt'");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(FOCUSED)).toBe("Close the receipt");
    await tabTo(page, "Redo");
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Confirm redo" }).waitFor();
    await tabTo(page, "Confirm redo");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Receipt" }).getByText("Redone:").waitFor();
    expect(repository.read("src/price.js")).toContain("1.2");
    expect(person.problems).toEqual([]);
  });

  test("a rewind over the user's own changes lists them first, and redo brings them back", async () => {
    const own = "export const price = (net) => net * 1.3; // mine\n";
    await using shop = await openTaxedShop(async ({ repository }) => repository.write("src/price.js", own));
    const { repository, person, page } = shop;
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").click();
    await page.getByRole("button", { name: "Rewind to before this turn" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    await dialog.getByText("your own changes in 1 file", { exact: false }).waitFor();
    expect(await dialog.innerText()).toContain("src/price.js");
    expect(repository.read("src/price.js")).toBe(own);
    await dialog.getByRole("button", { name: "Confirm rewind" }).click();
    await page.getByRole("region", { name: "Receipt" }).getByText("Rewound: 1 file written").waitFor();
    expect(repository.read("src/price.js")).toBe("export const price = (net) => net;\n");
    await page.getByRole("button", { name: "Redo", exact: true }).click();
    await dialog.getByRole("button", { name: "Confirm redo" }).click();
    await page.getByRole("region", { name: "Receipt" }).getByText("Redone:").waitFor();
    expect(repository.read("src/price.js")).toBe(own);
    expect(person.problems).toEqual([]);
  });
});
