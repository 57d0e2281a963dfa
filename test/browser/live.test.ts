/** What happens while a person looks: turns that appear, another tab, the terminal, a server that goes and comes back. */
import { afterAll, describe, expect, test } from "bun:test";
import { edit } from "../support/index.ts";
import { startView } from "../support/view/server.ts";
import { closeBrowser, open, program } from "./support/browser.ts";
import { freshDay, openTaxedShop } from "./support/day.ts";

afterAll(closeBrowser);

/** More than the server keeps open. */
const TOO_MANY_TABS = 50;

describe.skipIf(program === undefined)("live, in Chromium", () => {
  test("an empty repository shows a message, and the first turn appears while it runs and when it ends", async () => {
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
    await using shop = await openTaxedShop();
    const { repository, person, page } = shop;
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
    const turns = page.getByRole("list", { name: "Turns" });
    expect(await turns.getByText("Add the tax").count()).toBe(1);

    // Another server, on the same port: it does not know this page, and the page says so.
    const port = new URL(view.url).port;
    await using again = await startView(repository, { signedOut: true, args: ["--port", port] });
    await page.getByText("another one has taken its place").waitFor();
    expect(await turns.getByText("Add the tax").count()).toBe(1);
    await agent.turn("Explain", [edit("README.md", "A small shop.", "A shop.")], "Explained.");
    // Its own address lets the same browser in.
    await page.goto(again.url);
    await turns.getByText("Explain").waitFor();
    await page.getByTitle("Live", { exact: true }).waitFor();
  }, 60_000);

  test("a broken connection is restored automatically, and missed events are shown", async () => {
    using day = await freshDay();
    const { repository, agent } = day;
    await using view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page, context } = person;
    await page.getByTitle("Live", { exact: true }).waitFor();
    await agent.start();
    const lost = page.getByTitle("Not connected").waitFor();
    const [cookie] = await context.cookies();
    const stop = new AbortController();
    const headers = { Cookie: `${cookie?.name}=${cookie?.value}`, "Sec-Fetch-Site": "same-origin" };
    // The server ends the oldest stream when there are too many: that of the page.
    await Promise.all(
      Array.from({ length: TOO_MANY_TABS }, () => view.raw("api/events", { headers, signal: stop.signal })),
    );
    await lost;
    await agent.turn("Explain", [edit("README.md", "A small shop.", "A shop.")], "Explained.");
    stop.abort();
    await page.getByTitle("Live", { exact: true }).waitFor();
    await page.getByRole("list", { name: "Turns" }).getByText("Explain").waitFor();
  }, 60_000);

  test("two servers in one browser: each keeps its own sign-in", async () => {
    using one = await freshDay();
    using two = await freshDay();
    await one.agent.start();
    await one.agent.turn("Only in the first", [], "Done.");
    await two.agent.start();
    await two.agent.turn("Only in the second", [], "Done.");
    await using first = await startView(one.repository, { signedOut: true });
    await using second = await startView(two.repository, { signedOut: true });
    await using person = await open(first);
    const { page, context } = person;
    await page.getByRole("list", { name: "Turns" }).getByText("Only in the first").waitFor();
    const other = await context.newPage();
    await other.goto(second.url);
    await other.getByRole("list", { name: "Turns" }).getByText("Only in the second").waitFor();

    const cookies = await context.cookies([first.base, second.base]);
    expect(new Set(cookies.map(({ name }) => name)).size).toBe(2);
    expect(new Set(cookies.map(({ value }) => value)).size).toBe(2);
    // The browser sends neither server the other one's cookie, and both stay signed in.
    for (const { base } of [first, second]) expect(await context.cookies(base)).toHaveLength(1);
    await page.reload();
    await page.getByRole("list", { name: "Turns" }).getByText("Only in the first").waitFor();
    await other.reload();
    await other.getByRole("list", { name: "Turns" }).getByText("Only in the second").waitFor();
  }, 60_000);

  test("a tab without the token sees nothing", async () => {
    using day = await freshDay();
    await using view = await startView(day.repository, { signedOut: true });
    await using person = await open(view);
    await person.page.getByText("No turns yet").waitFor();
    await using stranger = await open({ ...view, url: view.base, origin: view.origin } as typeof view);
    await stranger.page.getByText("This tab is not signed in").waitFor();
  });
});
