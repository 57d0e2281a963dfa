/** Three people look at the hub's page: who shares everything, who may read it, and who may only read counts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HubClient } from "../../src/team/client.ts";
import { exampleTurn, ServedHub } from "../hub/served.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { closeBrowser, open, type Person, program } from "./support/browser.ts";

const repository = "example.com/shop";
const AXE = readFileSync(join(import.meta.dirname, "../../node_modules/axe-core/axe.min.js"), "utf8");

describe.skipIf(program === undefined || postgresPrograms === null)("the hub's page, in Chromium", () => {
  let cluster: PostgresCluster;
  let hub: ServedHub;
  let people: Record<"ada" | "bob" | "eve", HubClient>;
  const started = new Date().toISOString();
  const turn = (number: number, prompt: string, ended: boolean) => {
    const example = exampleTurn("checkout", number);
    const text = { session: "checkout", prompt, paths: ["src/cart.ts"], checkpoints: ["0123456789ab"] };
    const messages = [
      { kind: "answer" as const, tool: null, text: "The total is **rounded** now. <img src=x onerror=alert(1)>" },
      { kind: "tool-use" as const, tool: "Bash", text: "npm test" },
      { kind: "tool-result" as const, tool: "Bash", text: "42 passed" },
    ];
    return { ...example, startedAt: started, endedAt: ended ? started : null, text, messages };
  };

  beforeAll(async () => {
    cluster = await PostgresCluster.start();
    hub = await ServedHub.start(cluster.create(), { joinsPerSecond: 100 });
    people = {
      ada: (await hub.person("ada")).client,
      bob: (await hub.person("bob", { readsAll: "everything" })).client,
      eve: (await hub.person("eve", { role: "reader", readsAll: "counts" })).client,
    };
    await people.ada.share({ repository, level: "everything", chosenAt: started });
    const turns = [turn(1, "Round the total of the cart", true), turn(2, "Add a discount code", true)];
    await people.ada.turns({ repository, revision: 1, turns });
  }, 300_000);
  afterAll(async () => {
    await hub?.[Symbol.asyncDispose]();
    await cluster?.stop();
    await closeBrowser();
  });

  async function look(name: keyof typeof people): Promise<Person> {
    const { link } = await people[name].link();
    return open({ url: `${hub.url}/#token=${link}`, origin: hub.url, base: `${hub.url}/` });
  }

  test("a colleague reads turns, files and the conversation, finds words, and changes nothing", async () => {
    await using person = await look("bob");
    const { page } = person;
    const turns = page.getByRole("list", { name: "Turns" });
    await turns.getByText("Add a discount code").waitFor();
    // The token is gone from the address and the history.
    expect(page.url()).not.toContain("token");
    await turns.getByText("Round the total of the cart").click();
    const detail = page.getByRole("article", { name: "Turn" });
    await detail.getByText("src/cart.ts").waitFor();
    await detail.getByText("rounded", { exact: true }).waitFor();
    expect(await detail.getByText("ada").first().isVisible()).toBe(true);
    // What a colleague's agent wrote is text.
    expect(await page.locator("img[src=x]").count()).toBe(0);
    for (const name of [/^Rewind/, /^Undo/, /^Fork/, "Save", "Redo", "Resume"])
      expect(await page.getByRole("button", { name }).count()).toBe(0);

    await page.getByRole("searchbox", { name: "Search" }).fill("discount");
    await page.getByRole("searchbox", { name: "Search" }).press("Enter");
    const hits = page.getByRole("list", { name: "Hits" });
    await hits.locator("mark", { hasText: "discount" }).waitFor();
    await hits.getByRole("link").first().click();
    await page.getByRole("article", { name: "Turn" }).getByRole("heading", { name: "Add a discount code" }).waitFor();
    await page.getByRole("link", { name: /of its session/ }).click();
    await page
      .getByRole("article", { name: "Conversation" })
      .getByText("42 passed")
      .first()
      .waitFor({ state: "attached" });
    expect(person.problems).toEqual([]);
  }, 120_000);

  test("a turn appears while it runs, for those who may see it", async () => {
    await using bob = await look("bob");
    await using eve = await look("eve");
    for (const { page } of [bob, eve]) {
      await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Activity" }).click();
      await page.getByText("No turn that you may see is running.").waitFor();
    }
    await people.ada.turns({ repository, revision: 2, turns: [turn(3, "Ship the discount", false)] });
    await bob.page.getByRole("list", { name: "Running turns" }).getByText("Ship the discount").waitFor();
    await eve.page.getByRole("list", { name: "Running turns" }).getByText("(prompt not shared)").waitFor();
    await eve.page.getByRole("table", { name: "Activity by day" }).getByText("example.com/shop").first().waitFor();
    expect([...bob.problems, ...eve.problems]).toEqual([]);
  }, 120_000);

  test("who may read counts sees that something was done, and not what", async () => {
    await using person = await look("eve");
    const { page } = person;
    await page.getByRole("list", { name: "Turns" }).getByText("ada").first().waitFor();
    await page.getByText("Only counts are shared with you.").waitFor();
    const text = (await page.locator("body").textContent()) ?? "";
    for (const secret of ["discount", "cart", "rounded"]) expect(text).not.toContain(secret);
    expect(person.problems).toEqual([]);
  }, 120_000);

  test("signs out; without a link, the page says how to sign in", async () => {
    await using person = await look("ada");
    const { page } = person;
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("backtrail team view").waitFor();
    expect(await page.getByRole("list", { name: "Turns" }).count()).toBe(0);
  }, 120_000);

  test("every screen is without violations of axe-core", async () => {
    await using person = await look("bob");
    const { page } = person;
    await page.getByRole("list", { name: "Turns" }).getByText("Add a discount code").waitFor();
    for (const screen of ["", "activity", "sessions", "repositories", "search?q=discount"]) {
      await page.goto(`${hub.url}/#/${screen}`);
      await page.locator("main .skeleton").waitFor({ state: "detached" });
      await page.evaluate(AXE);
      const { violations } = (await page.evaluate("axe.run()")) as {
        violations: { id: string; nodes: { html: string }[] }[];
      };
      expect([screen, violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])]).toEqual([screen, []]);
    }
  }, 120_000);
});
