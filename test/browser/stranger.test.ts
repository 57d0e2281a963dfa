/** Somebody who has read nothing finds the turn that broke something, sees why, and takes it back, in the page alone. */
import { afterAll, describe, expect, test } from "bun:test";
import { edit, write } from "../support/index.ts";
import { closeBrowser, program } from "./support/browser.ts";
import { openTaxedShop } from "./support/day.ts";

afterAll(closeBrowser);

const GOOD = "export const price = (net) => net * 1.2;\n";

/** After the tax, a turn that breaks the price, and one that has nothing to do with it. */
const shopWithFault = (isChecked: boolean) =>
  openTaxedShop(async ({ repository, agent }) => {
    if (isChecked) await repository.run(["check", "--", "sh", "-c", "! grep -q RATES src/price.js"]);
    await agent.turn(
      "Look the tax up by country",
      [edit("src/price.js", "1.2", "RATES[country]")],
      "The table follows.",
    );
    await agent.turn("Write a changelog", [write("CHANGELOG.md", "# Changelog\n")], "Written.");
  });

describe.skipIf(program === undefined)("a stranger, in Chromium", () => {
  test("is led to the turn by the check that it broke", async () => {
    await using shop = await shopWithFault(true);
    const { repository, person, page } = shop;
    const turns = page.getByRole("list", { name: "Turns" });
    // The check runs in the background, and the page shows its result when it comes.
    await turns.getByText("broke the check").waitFor({ timeout: 60_000 });
    await page.getByRole("combobox", { name: "State" }).selectOption({ label: "Broke the check" });
    await turns.getByText("Write a changelog").waitFor({ state: "detached" });
    await turns.getByText("Look the tax up").waitFor();
    expect(await turns.getByRole("listitem").count()).toBe(1);
    await turns.getByText("Look the tax up").click();
    await page.getByRole("region", { name: "Check" }).getByText("passed before the turn, failed after").waitFor();
    await page.getByRole("region", { name: "Answer" }).getByText("The table follows.").waitFor();
    const changed = page.getByRole("region", { name: "Diff" }).locator(".line.add mark");
    await changed.first().waitFor();
    expect(await changed.allInnerTexts()).toEqual(["RATES[country]"]);
    await page.getByRole("button", { name: "Undo this turn" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    await dialog.getByText("What came later stays", { exact: false }).waitFor();
    await dialog.getByRole("button", { name: "Confirm undo" }).click();
    await page.getByRole("region", { name: "Receipt" }).getByRole("button", { name: "Take this back" }).waitFor();
    expect(repository.read("src/price.js")).toBe(GOOD);
    expect(repository.read("CHANGELOG.md")).toBe("# Changelog\n");
    expect(person.problems).toEqual([]);
  }, 120_000);

  test("comes from the wrong line of a file to its turn, and to what it was before", async () => {
    await using shop = await shopWithFault(false);
    const { repository, person, page } = shop;
    await page.getByRole("link", { name: "Files in time" }).click();
    const tree = page.getByRole("navigation", { name: "Files at this moment" });
    await tree.getByRole("button", { name: "src" }).click();
    await tree.getByRole("link", { name: "price.js" }).click();
    const file = page.getByRole("region", { name: "File at this moment" });
    await file.getByText("RATES[country]").waitFor();
    // To the moment at which the file changed last: its line is marked.
    const earlier = page.getByRole("button", { name: "Earlier" });
    while ((await file.locator(".line.add").count()) === 0) {
      await earlier.click();
      await page.waitForTimeout(200);
    }
    await file.getByText("1 written by this turn", { exact: false }).waitFor();
    await file.getByRole("link", { name: "Who wrote it" }).click();
    await page.getByRole("link", { name: "Look the tax up by country" }).click();
    await page.getByRole("button", { name: "Undo this turn" }).click();
    await page.getByRole("dialog", { name: "Confirm" }).getByRole("button", { name: "Confirm undo" }).click();
    await page.getByRole("region", { name: "Receipt" }).getByText("Undone: 1 file written").waitFor();
    expect(repository.read("src/price.js")).toBe(GOOD);
    // And the way back.
    await page.getByRole("region", { name: "Receipt" }).getByRole("button", { name: "Take this back" }).click();
    await page.getByRole("dialog", { name: "Confirm" }).getByRole("button", { name: "Confirm redo" }).click();
    await page.getByRole("region", { name: "Receipt" }).getByText("Redone:").waitFor();
    expect(repository.read("src/price.js")).toContain("RATES");
    expect(person.problems).toEqual([]);
  }, 120_000);

  test("reads the whole of a long line side by side, by bar, wheel and arrow keys", async () => {
    const long = (word: string) => `export const list = ["${"item, ".repeat(60)}${word}"];\n`;
    await using shop = await openTaxedShop(async ({ repository, agent }) => {
      repository.write("src/list.js", long("first"));
      await agent.turn("Change the list", [edit("src/list.js", "first", "second")], "Changed.");
    });
    const { person, page } = shop;
    await page.getByRole("list", { name: "Turns" }).getByText("Change the list").click();
    const diff = page.getByRole("region", { name: "Diff" });
    await diff.getByRole("button", { name: "Side by side" }).click();
    const [left, right] = [diff.locator(".side.delete mark"), diff.locator(".side.add mark")];
    await right.getByText("second").waitFor();
    const lines = diff.getByRole("group", { name: "Lines of src/list.js" });
    /** Whether a mark is inside of its half. */
    const isInside = (mark: typeof left) =>
      mark.evaluate((element) => {
        const side = element.closest(".side")?.getBoundingClientRect();
        const own = element.getBoundingClientRect();
        return side !== undefined && own.left >= side.left && own.right <= side.right + 1;
      });
    expect(await isInside(right)).toBe(false);
    await lines.focus();
    for (let i = 0; i < 60 && !((await isInside(left)) && (await isInside(right))); i++)
      await page.keyboard.press("ArrowRight");
    expect([await isInside(left), await isInside(right)]).toEqual([true, true]);
    await lines.hover();
    await page.mouse.wheel(-5_000, 0);
    await page.waitForTimeout(200);
    expect(await isInside(right)).toBe(false);
    expect(person.problems).toEqual([]);
  }, 60_000);
});
