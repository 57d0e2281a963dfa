/** The README says of each agent what the code says. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { agentsPage, agentsTable, PAGE, withTable } from "../../scripts/agents-table.ts";
import { packageOf } from "../../scripts/drift.ts";
import { PACKAGED } from "../../src/agents/registry/packaged.ts";
import { runners } from "../../src/run/agents.ts";
import { VERSION as AIDER } from "../real/aider.ts";

const readme = readFileSync(join(import.meta.dirname, "..", "..", "README.md"), "utf8");

test("the table of agents is up to date (scripts/agents-table.ts writes it)", async () => {
  expect(readme).toBe(await withTable(readme));
});

test("the page of agents is up to date", async () => {
  expect(readFileSync(PAGE, "utf8")).toBe(await agentsPage());
});

test("every agent has a row, and nothing is claimed of an agent that was never run", async () => {
  const rows = (await agentsTable()).split("\n").slice(2);
  expect(rows).toHaveLength(Object.keys(PACKAGED).length);
  for (const id of Object.keys(PACKAGED)) expect(rows.filter((row) => row.includes(`(\`${id}\`)`))).toHaveLength(1);
  for (const row of rows) expect(row).toMatch(/\| (?:\d[\w.-]*|preview) \|$/);
});

test("a tested version is the version that the real agent's tests pin", async () => {
  for (const [id, { profile }] of Object.entries(PACKAGED)) {
    const { tested_versions: versions } = await profile();
    const version = id === "aider" ? AIDER : (await packageOf(id))?.version;
    expect({ id, version: versions.at(-1) }).toEqual({ id, version });
  }
});

test("the agents of runs are counted and named as they are", async () => {
  const names = (await runners()).map(({ name }) => name);
  expect(names).toHaveLength(12);
  expect(readme).toContain("Twelve agents, one contract");
  const page = readFileSync(join(import.meta.dirname, "..", "..", "docs/run.md"), "utf8");
  const row = page.split("\n").find((line) => line.startsWith("| `--agent <name>`")) ?? "";
  expect(names.filter((name) => !row.includes(`\`${name}\``))).toEqual([]);
});

test("a README without the table's markers is reported", async () => {
  expect(withTable("# Backtrail\n")).rejects.toThrow("no place");
});
