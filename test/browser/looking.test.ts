/** A person looks through a recorded day: the timeline, a turn, its diff, files in time, sessions, commits, search. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { lengthen, openSteps } from "../../bench/view/history.ts";
import { edit } from "../support/index.ts";
import { startView, type ViewProcess } from "../support/view/server.ts";
import { closeBrowser, open, program } from "./support/browser.ts";
import { type Day, openTaxedShop, recordedDay } from "./support/day.ts";

describe.skipIf(program === undefined)("looking, in Chromium", () => {
  let day: Day;
  let view: ViewProcess;

  beforeAll(async () => {
    day = await recordedDay();
    view = await startView(day.repository, { signedOut: true });
  }, 60_000);

  afterAll(async () => {
    await view.stop();
    day[Symbol.dispose]();
    await closeBrowser();
  });

  /** The address lets one browser in: every test has a server's token of its own. */
  async function look(options: Parameters<typeof open>[1] = {}) {
    await view.stop();
    view = await startView(day.repository, { signedOut: true });
    return open(view, options);
  }

  test("through the turns of the day, with branches and their status", async () => {
    await using person = await look();
    const { page } = person;
    const turns = page.getByRole("list", { name: "Turns" });
    const prompts = turns.getByRole("listitem");
    await prompts.first().getByText("Check the prices once more").waitFor();
    const rewound = prompts.filter({ hasText: "Rename total to sum" });
    expect(await rewound.getByText("rewound").count()).toBe(1);
    expect(await prompts.filter({ hasText: "Add a changelog" }).getByText("undone").count()).toBe(1);
    expect(await turns.getByText("Saved: before the rename").count()).toBe(1);

    await prompts.filter({ hasText: "Cache the prices" }).getByRole("link").first().click();
    const diff = page.getByRole("region", { name: "Diff" });
    await diff.getByText("known.set(net, price(net))").waitFor();
    const answer = page.getByRole("region", { name: "Answer" });
    expect(await answer.locator("pre").innerText()).toContain("const known = new Map();");
    await diff.getByRole("button", { name: "Side by side" }).click();
    await diff.locator(".side").first().waitFor();
    expect(person.problems).toEqual([]);
  });

  test("a turn shows what a shell command changed, and what a rewind would not undo", async () => {
    await using person = await look();
    const { page } = person;
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax to every price").click();
    await page.getByRole("region", { name: "Not undone by a rewind" }).getByText("build.log").first().waitFor();
    await page.getByRole("region", { name: "Diff" }).getByText("net * 1.2").waitFor();
    expect(person.problems).toEqual([]);
  });

  test("drags the slider, and the file is as it was; nothing is written", async () => {
    await using person = await look();
    const { page } = person;
    const before = day.repository.git("status", "--porcelain");
    await page.goto(`${view.base}#/time?path=src%2Fprice.js`);
    const file = page.getByRole("region", { name: "File at this moment" });
    await file.getByText("net * 1.2").waitFor();
    const slider = page.getByRole("slider", { name: "Time" });
    await slider.focus();
    await page.keyboard.press("Home");
    await file.getByText("net * 1.2").waitFor({ state: "detached" });
    await file.getByText("=> net;").waitFor();
    await page.keyboard.press("End");
    await file.getByText("net * 1.2").waitFor();
    const box = await slider.boundingBox();
    if (!box) throw new Error("The slider is not visible.");
    await page.mouse.move(box.x + box.width - 4, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + 2, box.y + box.height / 2, { steps: 8 });
    await page.mouse.up();
    await file.getByText("=> net;").waitFor();
    await page.getByRole("navigation", { name: "Files at this moment" }).getByText("README.md").click();
    await file.getByText("A small shop.").waitFor();
    expect(day.repository.git("status", "--porcelain")).toBe(before);
    expect(person.problems).toEqual([]);
  });

  test("finds a turn by a word of its diff", async () => {
    await using person = await look();
    const { page } = person;
    await page.getByRole("searchbox", { name: "Search" }).fill("known");
    await page.keyboard.press("Enter");
    const hit = page.getByRole("list", { name: "Hits" }).getByRole("listitem").first();
    await hit.waitFor();
    await hit.getByRole("link").click();
    await page.getByRole("region", { name: "Diff" }).getByText("known.set").waitFor();
    expect(person.problems).toEqual([]);
  });

  test("the search box shows the words of the address, wherever these come from", async () => {
    await using person = await look();
    const { page } = person;
    const box = page.getByRole("searchbox", { name: "Search" });
    await page.goto(`${view.base}#/search`);
    await page.getByRole("link", { name: "is:undone" }).click();
    await page.getByText('for "is:undone"', { exact: false }).waitFor();
    expect(await box.inputValue()).toBe("is:undone");
    await page.goto(`${view.base}#/search?q=cache`);
    await page.getByText('for "cache"', { exact: false }).waitFor();
    expect(await box.inputValue()).toBe("cache");
    await page.goBack();
    await page.getByText('for "is:undone"', { exact: false }).waitFor();
    expect(await box.inputValue()).toBe("is:undone");
    await box.fill("is:undone  ");
    expect(await box.inputValue()).toBe("is:undone  ");
    expect(person.problems).toEqual([]);
  });

  test("from a commit to its diff, and from a line of a file to its prompt", async () => {
    await using person = await look();
    const { page } = person;
    await page.goto(`${view.base}#/commits`);
    await page.getByRole("list", { name: "Commits" }).getByText("Describe the shop").click();
    await page.getByRole("region", { name: "Diff" }).getByText("A small shop with prices").waitFor();
    await page.goto(`${view.base}#/blame/src%2Fcart.js`);
    await page.getByRole("link", { name: "Format the cart" }).click();
    await page.getByRole("heading", { level: 2, name: "Format the cart" }).waitFor();
    expect(person.problems).toEqual([]);
  });

  test("a link to a turn beyond the first page scrolls the timeline to it", async () => {
    await using shop = await openTaxedShop(async ({ repository, agent }) => {
      await agent.turn("Explain", [edit("README.md", "A small shop.", "A shop.")], "Explained.");
      lengthen(repository, 300, 3);
    });
    const { repository, page, person } = shop;
    const turns = page.getByRole("list", { name: "Turns" });
    await turns.getByText("Explain").first().waitFor();
    const { id } = openSteps(repository).find(({ kind, turn }) => kind === "turn-end" && turn === 1) ?? { id: "" };
    await page.goto(`${shop.view.base}#/turn/${id}`);
    await turns.getByText("Add the tax").waitFor();
    expect(person.problems).toEqual([]);
  });

  test("by keyboard alone: down, open, search, help, back", async () => {
    await using person = await look();
    const { page } = person;
    await page.getByRole("list", { name: "Turns" }).getByRole("listitem").first().waitFor();
    await page.keyboard.press("g");
    await page.getByRole("heading", { level: 2, name: "Check the prices once more" }).waitFor();
    await page.keyboard.press("j");
    await page.getByRole("heading", { level: 2, name: "Add a changelog" }).waitFor();
    await page.keyboard.press("k");
    await page.getByRole("heading", { level: 2, name: "Check the prices once more" }).waitFor();
    await page.keyboard.press("Shift+G");
    await page.getByRole("heading", { level: 2, name: "Add the tax to every price" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    expect(await page.evaluate('document.activeElement?.getAttribute("aria-label")')).toBe("Search");
    expect(person.problems).toEqual([]);
  });

  test("on a telephone, the list and the turn are two screens", async () => {
    await using person = await look({ width: 360, height: 780 });
    const { page } = person;
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax to every price").click();
    await page.getByRole("region", { name: "Diff" }).getByText("net * 1.2").waitFor();
    expect(await page.getByRole("list", { name: "Turns" }).count()).toBe(0);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await page.getByRole("link", { name: "← Timeline" }).click();
    await page.getByRole("list", { name: "Turns" }).waitFor();
    expect(person.problems).toEqual([]);
  });
});
