/** A session as one HTML file, opened from disk: it shows the conversation and the changes, and asks nobody for anything. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { edit, write } from "../support/index.ts";
import { closeBrowser, openFile, program } from "./support/browser.ts";
import { freshDay } from "./support/day.ts";

afterAll(closeBrowser);

const SECRET = "ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789";
const HOSTILE = `</script><script>document.title = "owned"</script><!-- <img src=x onerror="document.title = 'owned'"> \u2028\u2029 ]]>`;

describe.skipIf(program === undefined)("an exported session, in Chromium", () => {
  test("is read from disk: the conversation, each turn and its diff, and nothing that acts", async () => {
    using day = await freshDay();
    const { repository, agent } = day;
    await agent.start();
    await agent.turn(`Add the tax ${HOSTILE}`, [edit("src/price.js", "=> net", "=> net * 1.2")], "It is **20 %** now.");
    await agent.turn(
      `Keep ${SECRET} out`,
      [write("src/key.js", `// ${HOSTILE}\nexport const key = "${SECRET}";\n`)],
      `Used ${SECRET}. ${HOSTILE}`,
    );
    const exported = await repository.run(["export", "last", "-o", "session.html"]);
    expect(exported.code).toBe(0);
    const html = repository.read("session.html");
    expect(html).not.toContain(SECRET);
    // The page itself is small; the rest is data.
    const data = /<script type="application\/json"[^>]*>([^<]*)<\/script>/.exec(html)?.[1] ?? "";
    expect(data.length).toBeGreaterThan(1_000);
    expect(html.length - data.length).toBeLessThan(400_000);

    const address = pathToFileURL(join(repository.path, "session.html")).href;
    await using reader = await openFile(address);
    const { page } = reader;
    const conversation = page.getByRole("article", { name: "Conversation" });
    await conversation.getByText("It is 20 % now.").waitFor();
    await conversation.getByText("Used [secret:", { exact: false }).waitFor();
    expect(await conversation.getByText("</script>", { exact: false }).count()).toBeGreaterThan(0);
    expect(await page.title()).toContain("Add the tax");

    await conversation.getByRole("link", { name: "Show the turn" }).first().click();
    const diff = page.getByRole("region", { name: "Diff" });
    await diff.getByText("net * 1.2").waitFor();
    await page.getByRole("list", { name: "Turns" }).getByText("Keep").click();
    await diff.getByText("export const key", { exact: false }).waitFor();
    expect(await diff.innerText()).toContain("[secret:");

    const actions = /rewind|undo|redo|fork|resume|save|apply|dismiss|go to after|try again/i;
    expect(await page.getByRole("button", { name: actions }).count()).toBe(0);
    expect(await page.getByRole("searchbox").count()).toBe(0);
    for (const screen of ["time", "search", "commits", "forks", "runs", "repositories"])
      expect(await page.locator(`a[href^="#/${screen}"]`).count()).toBe(0);
    expect(reader.problems).toEqual([]);
    expect(reader.requests).toEqual([address]);
  });

  test("forbids every request and every other script", async () => {
    using day = await freshDay();
    const { repository, agent } = day;
    await agent.start();
    await agent.turn("Explain", [], "Explained.");
    expect((await repository.run(["export", "last", "-o", "session.html"])).code).toBe(0);
    await using reader = await openFile(pathToFileURL(join(repository.path, "session.html")).href);
    const { page } = reader;
    await page.getByText("Explained.").waitFor();
    const blocked = (await page.evaluate(`(async () => {
      const violations = [];
      document.addEventListener("securitypolicyviolation", (event) => violations.push(event.effectiveDirective));
      await fetch("http://127.0.0.1:9/").catch(() => undefined);
      const script = document.createElement("script");
      try {
        script.textContent = "document.title = 'owned'";
        document.body.append(script);
      } catch {
        violations.push("trusted-types");
      }
      const until = Date.now() + 10_000;
      while (violations.length < 2 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
      return violations;
    })()`)) as string[];
    expect(blocked.some((name) => name.startsWith("connect-src"))).toBe(true);
    expect(blocked.length).toBeGreaterThan(1);
    expect(await page.title()).toBe("Explain");
  });
});
