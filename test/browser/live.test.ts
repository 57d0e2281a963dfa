/** What happens while a person looks: turns that appear, another tab, the terminal, a server that goes and comes back. */
import { afterAll, describe, expect, test } from "bun:test";
import { edit } from "../support/index.ts";
import { startView } from "../support/view/server.ts";
import { closeBrowser, open, program } from "./support/browser.ts";
import { freshDay } from "./support/day.ts";

afterAll(closeBrowser);

describe.skipIf(program === undefined)("live, in Chromium", () => {
  test("an empty repository says so, and the first turn appears while it runs and when it ends", async () => {
    using day = await freshDay();
    const { repository, agent } = day;
    await using view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page } = person;
    await page.getByText("No turns yet").waitFor();
    await page.getByTitle("Live", { exact: true }).waitFor();
    await agent.start();
    await agent.begin("Add the tax");
    const turn = page.getByRole("list", { name: "Turns" }).getByRole("listitem").filter({ hasText: "Add the tax" });
    await turn.getByText("running").waitFor();
    await agent.act(edit("src/price.js", "=> net", "=> net * 1.2"));
    await agent.finish("Added.");
    await turn.getByText("running").waitFor({ state: "detached" });
    await turn.getByText("+1").waitFor();
    await page.getByRole("region", { name: "Answer" }).getByText("Added.").waitFor();
    await page.getByRole("region", { name: "Diff" }).getByText("net * 1.2").waitFor();
    expect(person.problems).toEqual([]);
  });

  test("two tabs and the terminal see the same", async () => {
    using day = await freshDay();
    const { repository, agent } = day;
    await agent.start();
    await agent.turn("Add the tax", [edit("src/price.js", "=> net", "=> net * 1.2")], "Added.");
    await using view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page } = person;
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").waitFor();
    const other = await person.tab("#/");
    const tag = (tab: typeof page) => tab.getByRole("list", { name: "Turns" }).getByText("rewound", { exact: true });
    await other.getByRole("list", { name: "Turns" }).getByText("Add the tax").waitFor();
    await Promise.all([page, other].map((tab) => tab.getByTitle("Live", { exact: true }).waitFor()));

    expect((await repository.run(["rewind", "1", "--yes", "--code-only"])).code).toBe(0);
    await Promise.all([tag(page).waitFor(), tag(other).waitFor()]);

    await other.getByRole("button", { name: "Redo", exact: true }).click();
    await other.getByRole("dialog", { name: "Confirm" }).getByRole("button", { name: "Confirm redo" }).click();
    await Promise.all([page, other].map((tab) => tag(tab).waitFor({ state: "detached" })));
    expect(repository.read("src/price.js")).toContain("1.2");
    expect(person.problems).toEqual([]);
  });

  test("says that the server is gone, and keeps what it showed", async () => {
    using day = await freshDay();
    const { repository, agent } = day;
    await agent.start();
    await agent.turn("Add the tax", [edit("src/price.js", "=> net", "=> net * 1.2")], "Added.");
    const view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page } = person;
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").waitFor();
    await page.getByTitle("Live", { exact: true }).waitFor();
    await view.stop();
    await page.getByText("The server does not answer").first().waitFor();
    expect(await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").count()).toBe(1);

    // Another server, on the same port: its address lets the browser in again.
    const port = new URL(view.url).port;
    await using again = await startView(repository, { signedOut: true, args: ["--port", port] });
    await page.goto(again.url);
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").waitFor();
    await page.getByTitle("Live", { exact: true }).waitFor();
  });

  test("a connection that breaks comes back by itself, and what happened meanwhile is shown", async () => {
    using day = await freshDay();
    const { repository, agent } = day;
    await agent.start();
    await agent.turn("Add the tax", [edit("src/price.js", "=> net", "=> net * 1.2")], "Added.");
    await using view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page, context } = person;
    await page.getByTitle("Live", { exact: true }).waitFor();
    await context.setOffline(true);
    await page.reload().catch(() => {});
    await context.setOffline(false);
    await agent.turn("Explain", [edit("README.md", "A small shop.", "A shop.")], "Explained.");
    await page.goto(view.base);
    await page.getByRole("list", { name: "Turns" }).getByText("Explain").waitFor();
    await page.getByTitle("Live", { exact: true }).waitFor();
  });

  test("a tab without the token sees nothing", async () => {
    using day = await freshDay();
    await using view = await startView(day.repository, { signedOut: true });
    await using person = await open(view);
    await person.page.getByText("No turns yet").waitFor();
    await using stranger = await open({ ...view, url: view.base, origin: view.origin } as typeof view);
    await stranger.page.getByText("This tab is not signed in").waitFor();
  });
});
