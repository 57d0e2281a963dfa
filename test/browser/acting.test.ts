/** A person takes work back from the page, and brings it back again. */
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { edit } from "../support/index.ts";
import { closeBrowser, program } from "./support/browser.ts";
import { openTaxedShop } from "./support/day.ts";

afterAll(closeBrowser);

describe.skipIf(program === undefined)("acting, in Chromium", () => {
  test("undoes a turn, sees the files change, and redoes it", async () => {
    await using shop = await openTaxedShop(async ({ agent }) => {
      await agent.turn("Explain", [edit("README.md", "A small shop.", "A small shop with tax.")], "Explained.");
    });
    const { repository, person, page } = shop;

    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").click();
    await page.getByRole("region", { name: "Diff" }).getByText("net * 1.2").waitFor();
    await page.getByRole("button", { name: "Undo this turn" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    await dialog.getByText("1 file to write").waitFor();
    expect(repository.read("src/price.js")).toContain("1.2");
    // The command line says the same about the same turn.
    const { stdout } = await repository.run(["undo", "2", "--dry-run"]);
    const shown = (await dialog.innerText()).replace(/\s+/g, " ");
    for (const words of ["1 file to write", "src/price.js", "not changed"]) {
      expect(stdout).toContain(words);
      expect(shown).toContain(words);
    }
    await dialog.getByRole("button", { name: "Confirm undo" }).click();
    await page.getByRole("region", { name: "Receipt" }).getByText("Undone: 1 file written, 0 deleted.").waitFor();
    expect(repository.read("src/price.js")).toBe("export const price = (net) => net;\n");
    expect(repository.read("README.md")).toContain("with tax");
    await page.getByRole("list", { name: "Turns" }).getByText("undone", { exact: true }).waitFor();
    await page.getByText("Undid: Add the tax").waitFor();
    const receipt = await page.getByRole("region", { name: "Receipt" }).innerText();
    expect(receipt).not.toContain("--tell-agent");

    // Files in time opens at the files on disk, not at the state that the undone turn left.
    await page.goto(`${shop.view.base}#/time?path=src%2Fprice.js`);
    const file = page.getByRole("region", { name: "File at this moment" });
    await page.getByText("Now (files on disk)").waitFor();
    await file.getByText("=> net;").waitFor();
    await page.getByRole("button", { name: "Earlier" }).click();
    await page.getByText(/^After turn 2 of session [0-9a-f]{8}, "Explain"$/).waitFor();
    await file.getByText("net * 1.2").waitFor();
    await page.getByRole("button", { name: "Later" }).click();
    await file.getByText("=> net;").waitFor();

    await page.getByRole("link", { name: "Timeline" }).click();
    await page.getByRole("button", { name: "Redo", exact: true }).click();
    await dialog.getByRole("button", { name: "Confirm redo" }).click();
    await page.getByRole("region", { name: "Receipt" }).getByText("Redone:").waitFor();
    expect(repository.read("src/price.js")).toContain("1.2");
    await page.getByRole("list", { name: "Turns" }).getByText("undone", { exact: true }).waitFor({ state: "detached" });
    expect(person.problems).toEqual([]);
  });

  test("sees the conflicts, and nothing is written", async () => {
    await using shop = await openTaxedShop(async ({ agent }) => {
      await agent.turn("Raise the tax", [edit("src/price.js", "1.2", "1.25")], "Raised.");
    });
    const { repository, person, page } = shop;
    const before = repository.read("src/price.js");
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").click();
    await page.getByRole("button", { name: "Undo this turn" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    await dialog.getByRole("region", { name: "Conflicts" }).getByText("src/price.js").waitFor();
    expect(await dialog.getByRole("button", { name: "Confirm undo" }).isDisabled()).toBe(true);
    await dialog.getByLabel("between markers").check();
    await dialog.getByText("In conflict, written with markers").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(repository.read("src/price.js")).toBe(before);
    expect(person.problems).toEqual([]);
  });

  test("after conflicts were resolved by hand, a redo writes its conflicts between markers too", async () => {
    await using shop = await openTaxedShop(async ({ agent }) => {
      await agent.turn("Raise the tax", [edit("src/price.js", "1.2", "1.25")], "Raised.");
    });
    const { repository, person, page } = shop;
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").click();
    await page.getByRole("button", { name: "Undo this turn" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    await dialog.getByLabel("between markers").check();
    await dialog.getByText("In conflict, written with markers").waitFor();
    await dialog.getByRole("button", { name: "Confirm undo" }).click();
    const receipt = page.getByRole("region", { name: "Receipt" });
    // What is left to do comes first.
    await receipt.getByText("resolve the conflicts in src/price.js", { exact: false }).waitFor();
    expect(await receipt.locator("p").first().innerText()).toContain("resolve the conflicts");
    repository.write("src/price.js", "export const price = (net) => net * 1.05;\n");
    await page.getByRole("button", { name: "Redo", exact: true }).click();
    await dialog.getByRole("region", { name: "Conflicts" }).waitFor();
    expect(await dialog.getByRole("button", { name: "Confirm redo" }).isDisabled()).toBe(true);
    await dialog.getByLabel("between markers").check();
    await dialog.getByText("In conflict, written with markers").waitFor();
    await dialog.getByRole("button", { name: "Confirm redo" }).click();
    await receipt.getByText("Redone:").waitFor();
    expect(repository.read("src/price.js")).toContain("<<<<<<<");
    expect(person.problems).toEqual([]);
  });

  test("a filter by a file's name keeps the turn that is beside the list", async () => {
    await using shop = await openTaxedShop(async ({ agent }) => {
      await agent.turn("Explain", [edit("README.md", "A small shop.", "A small shop with tax.")], "Explained.");
    });
    const { person, page } = shop;
    await page.getByRole("heading", { name: "Explain" }).waitFor();
    await page.getByRole("textbox", { name: "Words in prompts, answers and paths" }).fill("price.js");
    const turns = page.getByRole("list", { name: "Turns" });
    await turns.getByText("Explain").waitFor({ state: "detached" });
    await turns.getByText("Add the tax").waitFor();
    await page.getByRole("heading", { name: "Explain" }).waitFor();
    expect(person.problems).toEqual([]);
  });

  test("a turn in conflict with a later one is undone together with it, and the agent is told why", async () => {
    await using shop = await openTaxedShop(async ({ agent }) => {
      await agent.turn("Raise the tax", [edit("src/price.js", "1.2", "1.25")], "Raised.");
    });
    const { repository, agent, person, page } = shop;
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").click();
    await page.getByRole("button", { name: "Undo this turn" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    const conflicts = dialog.getByRole("region", { name: "Conflicts" });
    await conflicts.getByRole("link", { name: "Raise the tax" }).waitFor();
    // The turn is named once, as the page names turns everywhere: by its agent and prompt.
    expect(await conflicts.getByRole("listitem").textContent()).toMatch(
      /changed since \(by Claude Code in Raise the tax\)$/,
    );
    await dialog.getByRole("button", { name: "Undo that turn too" }).click();
    await dialog.getByText("Takes back 2 turns").waitFor();
    await dialog.getByText("not changed").waitFor();
    await dialog.getByLabel("Tell the agent what was undone").check();
    await dialog.getByLabel("Why, for the agent").fill("No tax before May.");
    await dialog.getByText("conversation that ends with what was undone", { exact: false }).waitFor();
    await dialog.getByRole("button", { name: "Confirm undo" }).click();
    await page.getByRole("region", { name: "Receipt" }).getByText("Undone: 1 file written").waitFor();
    expect(repository.read("src/price.js")).toBe("export const price = (net) => net;\n");
    await page.getByRole("region", { name: "Receipt" }).getByText("claude --resume", { exact: false }).waitFor();
    const copies = [...new Bun.Glob("**/*.jsonl").scanSync({ cwd: repository.home, absolute: true, dot: true })];
    const told = copies.filter((file) => readFileSync(file, "utf8").includes("No tax before May."));
    expect(told.filter((file) => file.includes("/projects/") && !file.includes(agent.session))).toHaveLength(1);
    expect(person.problems).toEqual([]);
  });

  test("from the plan of a rewind to the undo of this turn alone, and from a conflict to the rewind", async () => {
    await using shop = await openTaxedShop(async ({ agent }) => {
      await agent.turn("Raise the tax", [edit("src/price.js", "1.2", "1.25")], "Raised.");
    });
    const { repository, person, page } = shop;
    repository.commit("Since");
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").click();
    await page.getByRole("button", { name: "Rewind to before this turn" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    await dialog.getByText("This turn and every later one are undone", { exact: false }).waitFor();
    await dialog.getByRole("region", { name: "Not undone", exact: true }).getByText("1 commit since").waitFor();
    await dialog.getByRole("button", { name: "Undo only this turn instead" }).click();
    await dialog.getByRole("region", { name: "Conflicts" }).waitFor();
    expect(await dialog.getByRole("button", { name: "Confirm undo" }).isDisabled()).toBe(true);
    await dialog.getByRole("button", { name: "Rewind to before this turn instead" }).click();
    await dialog.getByText("Takes back 2 turns").waitFor();
    await dialog.getByRole("button", { name: "Confirm rewind" }).waitFor();
    expect(person.problems).toEqual([]);
  });

  test("saves the current state under a name, as the command line would", async () => {
    await using shop = await openTaxedShop();
    const { repository, person, page } = shop;
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    const name = dialog.getByRole("textbox", { name: "Name" });
    const confirm = dialog.getByRole("button", { name: "Confirm save" });
    await name.fill("last");
    await dialog.getByText(`"last" can't be a name`, { exact: false }).waitFor();
    expect(await confirm.isDisabled()).toBe(true);
    await name.fill("with tax");
    await confirm.click();
    await page.getByRole("region", { name: "Receipt" }).getByText(`Saved as "with tax".`).waitFor();
    await page.getByRole("list", { name: "Turns" }).getByText("Saved: with tax").waitFor();
    expect((await repository.run(["rewind", "with tax", "--dry-run"])).code).toBe(0);
    expect(person.problems.filter((problem) => !problem.includes("400"))).toEqual([]);
  });

  test("the changes of a plan, line by line, follow the files when these change meanwhile", async () => {
    await using shop = await openTaxedShop();
    const { repository, person, page } = shop;
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").click();
    await page.getByRole("button", { name: "Rewind to before this turn" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    await dialog.getByText("Show the changes line by line").click();
    await dialog.getByText("net * 1.2").waitFor();
    repository.write("src/price.js", "export const price = (net) => net * 1.3; // mine\n");
    await dialog.getByText("The files changed meanwhile").waitFor();
    await dialog.locator(".line.delete").getByText("net * 1.3").waitFor();
    // The conversation has nothing before this turn: there is nobody to tell.
    expect(await dialog.getByLabel("Tell the agent what was undone").count()).toBe(0);
    expect(person.problems).toEqual([]);
  });

  test("a plan that no longer fits the files is drawn up again, not applied", async () => {
    await using shop = await openTaxedShop();
    const { repository, page } = shop;
    // Without live events the page cannot know that the files changed: only the server can.
    await page.route("**/api/events", (route) => route.abort());
    await page.reload();
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").click();
    await page.getByRole("button", { name: "Rewind to before this turn" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    await dialog.getByText("1 file to write").waitFor();
    repository.write("src/price.js", "export const price = (net) => net * 1.3; // mine\n");
    await dialog.getByRole("button", { name: "Confirm rewind" }).click();
    await dialog.getByText("The files changed meanwhile").waitFor();
    expect(repository.read("src/price.js")).toContain("// mine");
    await dialog.getByText("your own changes in 1 file", { exact: false }).waitFor();
    await dialog.getByRole("button", { name: "Confirm rewind" }).click();
    await page.getByRole("region", { name: "Receipt" }).getByText("Rewound: 1 file written").waitFor();
    expect(repository.read("src/price.js")).toBe("export const price = (net) => net;\n");
  });
});
