/** An agent proposes to undo a turn while somebody looks; the person decides in the page. */
import { afterAll, describe, expect, test } from "bun:test";
import { edit, type TemporaryRepository } from "../support/index.ts";
import { McpClient } from "../support/mcp.ts";
import { startView } from "../support/view/server.ts";
import { closeBrowser, open, program } from "./support/browser.ts";
import { type Day, freshDay } from "./support/day.ts";

afterAll(closeBrowser);

const REASON = "The tax is <b>wrong</b> for books.";

async function recorded(): Promise<Day> {
  const day = await freshDay();
  await day.agent.start();
  await day.agent.turn("Add the tax", [edit("src/price.js", "=> net", "=> net * 1.2")], "Added.");
  await day.agent.turn("Explain", [edit("README.md", "A small shop.", "A small shop with tax.")], "Explained.");
  return day;
}

/** As the agent does, through MCP. */
async function propose(repository: TemporaryRepository): Promise<string> {
  await using client = await McpClient.connect(repository);
  const turn = /^([k-z]{12}): .*\n> Add the tax$/m.exec(await client.ask("turns"))?.[1] ?? "";
  const answer = await client.ask("propose_undo", { turn, reason: REASON });
  return /^ {2}backtrail apply ([k-z]{12})$/m.exec(answer)?.[1] ?? "";
}

async function statesOf(repository: TemporaryRepository): Promise<Record<string, string>> {
  const { stdout } = await repository.run(["proposals", "--all", "--json"]);
  const { proposals } = JSON.parse(stdout) as { proposals: { id: string; state: string }[] };
  return Object.fromEntries(proposals.map(({ id, state }) => [id, state]));
}

describe.skipIf(program === undefined)("proposals, in Chromium", () => {
  test("one appears live, is shown with its plan, and is applied", async () => {
    using day = await recorded();
    const { repository } = day;
    await using view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page } = person;
    await page.getByRole("list", { name: "Turns" }).getByText("Add the tax").waitFor();
    const proposals = page.getByRole("region", { name: "Proposals" });
    expect(await proposals.count()).toBe(0);

    const id = await propose(repository);
    const proposal = proposals.getByRole("article", { name: `Proposal ${id}` });
    await proposal.getByText(REASON).waitFor();
    await proposal.getByText("proposes to undo a turn").waitFor();
    expect(repository.read("src/price.js")).toContain("1.2");

    await proposal.getByRole("button", { name: "Apply" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    await dialog.getByText("1 file to write").waitFor();
    await dialog.getByText(REASON).waitFor();
    expect(repository.read("src/price.js")).toContain("1.2");
    await dialog.getByRole("button", { name: "Confirm and apply" }).click();
    await page.getByRole("region", { name: "Receipt" }).getByText("Undone: 1 file written, 0 deleted.").waitFor();
    expect(repository.read("src/price.js")).toBe("export const price = (net) => net;\n");
    expect(repository.read("README.md")).toContain("with tax");
    await proposals.waitFor({ state: "detached" });
    expect(await statesOf(repository)).toEqual({ [id]: "applied" });
    expect(person.problems).toEqual([]);
  }, 60_000);

  test("a plan that another process has drawn up again is not applied unseen", async () => {
    using day = await recorded();
    const { repository } = day;
    const id = await propose(repository);
    await using view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page } = person;
    // Without live events, only the server can know that the files changed.
    await page.route("**/api/events", (route) => route.abort());
    await page.reload();
    await page.getByRole("button", { name: "Apply" }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm" });
    await dialog.getByText("1 file to write").waitFor();
    // The terminal shows the plan for the changed files, so that the record holds that one.
    const proposed = repository.read("src/price.js");
    const mine = `${proposed}// mine\n`;
    repository.write("src/price.js", mine);
    await repository.run(["apply", id, "--dry-run"]);
    const confirm = dialog.getByRole("button", { name: "Confirm and apply" });
    await confirm.click();
    await dialog.getByText("The files changed meanwhile").waitFor();
    await dialog.getByRole("region", { name: "Conflicts" }).getByText("src/price.js").waitFor();
    expect(await confirm.isDisabled()).toBe(true);
    expect(repository.read("src/price.js")).toBe(mine);
    expect(await statesOf(repository)).toEqual({ [id]: "open" });

    repository.write("src/price.js", proposed);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Apply" }).click();
    await dialog.getByText("The files changed since this was proposed").waitFor();
    await confirm.click();
    await page.getByRole("region", { name: "Receipt" }).getByText("Undone: 1 file written").waitFor();
    expect(repository.read("src/price.js")).toBe("export const price = (net) => net;\n");
    expect(await statesOf(repository)).toEqual({ [id]: "applied" });
  }, 60_000);

  test("is dismissed as by the command line; a read-only page only shows it", async () => {
    using day = await recorded();
    const { repository } = day;
    const id = await propose(repository);
    {
      await using view = await startView(repository, { signedOut: true, args: ["--read-only"] });
      await using person = await open(view);
      await person.page.getByRole("region", { name: "Proposals" }).getByText(REASON).waitFor();
      expect(await person.page.getByRole("button", { name: /Apply|Dismiss/ }).count()).toBe(0);
    }
    await using view = await startView(repository, { signedOut: true });
    await using person = await open(view);
    const { page } = person;
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.getByRole("region", { name: "Proposals" }).waitFor({ state: "detached" });
    expect(await statesOf(repository)).toEqual({ [id]: "dismissed" });
    expect(repository.read("src/price.js")).toContain("1.2");
    expect(person.problems).toEqual([]);
  }, 60_000);
});
