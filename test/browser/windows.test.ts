/** Links and windows between the page and other sites: neither learns anything of the other. */
import { afterAll, describe, expect, test } from "bun:test";
import { write } from "../support/index.ts";
import { startView } from "../support/view/server.ts";
import { attackPath, EVIL, hostileSite, lootOf } from "./support/attacker.ts";
import { closeBrowser, open, program } from "./support/browser.ts";
import { freshDay } from "./support/day.ts";

afterAll(closeBrowser);

describe.skipIf(program === undefined)("windows of other sites, in Chromium", () => {
  test("a link in a transcript tells the other site neither where it was nor the token", async () => {
    await using site = hostileSite();
    using day = await freshDay();
    const { repository, agent } = day;
    const links = [`http://${EVIL}:${site.port}/a`, `http://127.0.0.1:${site.port}/b`];
    await agent.start();
    await agent.turn(
      "Show links",
      [write("a.txt", "a\n")],
      links.map((link, i) => `[link ${i}](${link})`).join("\n\n"),
    );
    await using view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page, context } = person;
    await page.getByRole("list", { name: "Turns" }).getByText("Show links").click();
    const answer = page.getByRole("region", { name: "Answer" });
    for (const i of links.keys()) {
      const opened = context.waitForEvent("page");
      await answer.getByRole("link", { name: `link ${i}` }).click();
      const other = await opened;
      await other.waitForLoadState();
      expect(await other.evaluate("[document.referrer, window.opener]")).toEqual(["", null]);
      await other.close();
    }
    const [cookie] = await context.cookies();
    const { pathname } = new URL(view.base);
    expect(site.heard).toHaveLength(2);
    for (const request of site.heard) {
      expect(request.toLowerCase()).not.toContain('"referer"');
      for (const secret of [view.token, cookie?.value ?? "", pathname]) expect(request).not.toContain(secret);
    }
  });

  test("the token leaves the address bar and the history when it has been used", async () => {
    using day = await freshDay();
    await using view = await startView(day.repository, { signedOut: true });
    await using person = await open(view);
    const { page } = person;
    await page.getByText("No turns yet").waitFor();
    expect(page.url()).not.toContain(view.token);
    await page.goto(`${view.base}#/sessions`);
    await page.getByRole("heading", { level: 2 }).first().waitFor();
    await page.goBack();
    expect(page.url()).not.toContain(view.token);
    expect(await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie, history.state])")).toBe(
      '[{},{},"",null]',
    );
    expect(person.problems).toEqual([]);
  });

  test("a window that another site opens shows no data, and the site cannot look into it", async () => {
    await using site = hostileSite();
    using day = await freshDay();
    const { repository, agent } = day;
    await agent.start();
    await agent.turn("Write a secret plan", [write("plan.txt", "the plan\n")], "Written.");
    await using view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page, context } = person;
    await page.getByRole("list", { name: "Turns" }).getByText("Write a secret plan").waitFor();
    for (const host of [EVIL, "127.0.0.1"]) {
      const hostile = await context.newPage();
      await hostile.goto(`http://${host}:${site.port}${attackPath(view)}`);
      await lootOf(hostile);
      for (const path of ["", "api/timeline", "api/state"]) {
        const opened = context.waitForEvent("page");
        await hostile.evaluate(`void (window.opened = window.open(${JSON.stringify(view.base + path)}))`);
        const popup = await opened;
        await popup.waitForLoadState();
        expect([host, path, await popup.locator("body").innerText()]).toEqual([
          host,
          path,
          expect.stringContaining("Requests from other sites are not allowed."),
        ]);
        expect(await popup.evaluate("window.opener")).toBe(null);
        await hostile.waitForFunction("window.opened.closed");
        expect(await hostile.evaluate("try { opened.document.body.innerText } catch (error) { error.name }")).toBe(
          "SecurityError",
        );
        await popup.close();
      }
    }
    await page.reload();
    await page.getByRole("list", { name: "Turns" }).getByText("Write a secret plan").waitFor();
  });
});
