/** Transcripts and files that try to run, to load or to hide something. */
import { afterAll, describe, expect, test } from "bun:test";
import { write } from "../support/index.ts";
import { startView } from "../support/view/server.ts";
import { closeBrowser, open, program } from "./support/browser.ts";
import { freshDay } from "./support/day.ts";

afterAll(closeBrowser);

const ATTACK = [
  "<script>window.hacked = 1</script>",
  "<img src=x onerror='window.hacked = 1'>",
  "<svg onload='window.hacked = 1'><a href='javascript:window.hacked=1'>svg</a></svg>",
  "[click me](javascript:window.hacked=1)",
  "![pixel](https://evil.example/pixel.png)",
  "<style>body { display: none }</style><iframe src='https://evil.example'></iframe>",
  "\u001b[31mred\u001b[0m \u001b]0;title\u0007",
  "safe \u202Egnp.exe",
].join("\n\n");

describe.skipIf(program === undefined)("a hostile transcript, in Chromium", () => {
  test("is text: nothing runs, loads or hides", async () => {
    using day = await freshDay();
    const { repository, agent } = day;
    await agent.start();
    await agent.turn(
      `Hostile ${ATTACK}`,
      [
        write(
          "evil.svg",
          "<svg xmlns='http://www.w3.org/2000/svg' onload='window.hacked=1'><script>window.hacked=1</script></svg>\n",
        ),
        write("<img src=x onerror=alert(1)>.html", ATTACK),
        write("safe\u202Egnp.js", "const a = 1;\n"),
      ],
      ATTACK,
    );
    await using view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page } = person;
    await page.getByRole("list", { name: "Turns" }).getByText("Hostile").first().click();
    const answer = page.getByRole("region", { name: "Answer" });
    await answer.getByText("<script>window.hacked = 1</script>").waitFor();
    await page.getByRole("region", { name: "Diff" }).getByText("xmlns").first().waitFor();
    expect(await answer.locator("img, svg, iframe, style, script").count()).toBe(0);
    for (const link of await page.locator("a").all()) {
      const href = (await link.getAttribute("href")) ?? "";
      expect(href.startsWith("#/") || href.startsWith("https://evil.example/")).toBe(true);
    }
    const text = await page.locator("main").innerText();
    expect(text).toContain("‹U+202E›");
    expect(text.includes("\u001b") || text.includes("\u202E")).toBe(false);

    await page.goto(`${view.base}#/session/${agent.session}`);
    await page.getByRole("region", { name: "Prompt 1" }).getByText("onerror").first().waitFor();
    await page.getByRole("searchbox", { name: "Search" }).fill("<script>hacked");
    await page.keyboard.press("Enter");
    await page.goto(`${view.base}#/blame/${encodeURIComponent("evil.svg")}`);
    await page.getByText("xmlns").first().waitFor();
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(person.problems).toEqual([]);
  });

  test("a line of ten megabytes and a file of 50,000 lines stay usable", async () => {
    using day = await freshDay();
    const { repository, agent } = day;
    await agent.start();
    const long = Array.from({ length: 50_000 }, (_, i) => `const line${i} = ${i};`).join("\n");
    await agent.turn(
      "Write much",
      [write("long.js", `${long}\n`), write("wide.txt", `${"y".repeat(10_000_000)}\n`)],
      "z".repeat(1_000_000),
    );
    await using view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page } = person;
    await page.getByRole("list", { name: "Turns" }).getByText("Write much").click();
    const diff = page.getByRole("region", { name: "Diff" });
    await diff.getByText("const line0 = 0;", { exact: true }).waitFor();
    // Only what is visible is drawn.
    expect(await page.locator(".line").count()).toBeLessThan(1_000);
    await page.goto(`${view.base}#/time?path=long.js`);
    await page.getByRole("region", { name: "File at this moment" }).getByText("50,000 lines").waitFor();
    expect(await page.locator(".line").count()).toBeLessThan(1_000);
    expect(person.problems).toEqual([]);
  });
});
