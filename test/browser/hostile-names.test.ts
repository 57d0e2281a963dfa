/** Names that try to run: of files, saved states, branches, commits, authors, tools and models, on every screen. */
import { afterAll, describe, expect, test } from "bun:test";
import { bash, write } from "../support/index.ts";
import { startView } from "../support/view/server.ts";
import { closeBrowser, open, program } from "./support/browser.ts";
import { freshDay } from "./support/day.ts";

afterAll(closeBrowser);

const RUN = "<img src=x onerror=alert(1)>";
const FILES = [
  `${RUN}.txt`,
  '"><script>window.hacked=1</script>.txt',
  "javascript:alert(1)",
  "#token=x&..%2f.txt",
  "data:text/html,<script>alert(1)</script>",
  "new\nline.txt",
  "\u202Etxt.exe",
  "__proto__",
  `${"w".repeat(240)}.txt`,
];
const MARKDOWN = [
  "[a](JaVaScRiPt:alert(1)) [b](vbscript:x) [c](data:text/html,<script>alert(1)</script>) [d](//evil.example/x)",
  "[e](java\nscript:alert(1)) <javascript:alert(1)> [f](file:///etc/passwd) [g](blob:x) ![h](javascript:alert(1))",
  "```html\n<script>window.hacked = 1</script>\n```",
  `| a | b |\n| - | - |\n| ${RUN} | <svg/onload=alert(1)> |`,
  "\u001b]8;;javascript:alert(1)\u0007link\u001b]8;;\u0007",
].join("\n\n");

describe.skipIf(program === undefined)("hostile names, in Chromium", () => {
  test("are text on every screen: nothing runs, loads, asks or leads elsewhere", async () => {
    using day = await freshDay();
    const { repository, agent } = day;
    await agent.start();
    // A slash makes a directory of what is before it.
    for (const name of FILES) repository.write(name, `${RUN}\n`);
    await agent.turn(MARKDOWN, [write("a.txt", MARKDOWN), bash(`echo '${RUN}' > b.txt`)], MARKDOWN);
    await agent.turn("A long line", [], "z".repeat(10_000_000));
    await repository.run(["save", RUN]);
    const commit = repository.commit(`${RUN} <script>window.hacked=1</script>`);
    await repository.run(["fork", "1", "--branch", "fork-<b>bold"]);
    await using view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page, context } = person;
    const dialogs: string[] = [];
    context.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      dialog.dismiss().catch(() => undefined);
    });
    await page.getByRole("list", { name: "Turns" }).getByText("A long line").waitFor();
    const turn = (await page.evaluate(
      `fetch("api/timeline").then(async (answer) => (await answer.json()).items.find((item) => item.number === 1).id)`,
    )) as string;
    const places = FILES.flatMap((name) => ["time?path=", "blame/"].map((screen) => screen + encodeURIComponent(name)));
    const screens = [
      "",
      `turn/${turn}`,
      `session/${agent.session}`,
      "sessions",
      "commits",
      `commit/${commit}`,
      "forks",
    ];
    for (const screen of [...screens, "runs", "repositories", `search?q=${encodeURIComponent(RUN)}`, ...places]) {
      await page.goto(`${view.base}#/${screen}`);
      await page.locator("main h2, main li, main input[type=range]").first().waitFor();
      await page.locator(".skeleton:not(.file-body .skeleton)").first().waitFor({ state: "detached" });
      const found = await page.evaluate(`[
        document.querySelectorAll("main img, main iframe, main object, main embed, main script, main form[action]").length,
        [...document.querySelectorAll("a[href]")].map((link) => link.href).filter((href) => !href.startsWith(location.origin)),
        window.hacked ?? null,
      ]`);
      expect([screen, found]).toEqual([screen, [0, [], null]]);
    }
    expect(dialogs).toEqual([]);
    await page.goto(`${view.base}#/time?path=${encodeURIComponent(FILES[0] ?? "")}`);
    await page.getByRole("region", { name: "File at this moment" }).getByText(RUN, { exact: true }).waitFor();
    expect(person.problems).toEqual([]);
  }, 180_000);
});
