/**
 * The table of agents in the README, made from the code: what each can do, and the version that it was tried with.
 * `--check` writes nothing and fails where the table is not up to date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../src/agents/agent.ts";
import { PACKAGED } from "../src/agents/packaged.ts";
import { capabilitiesOf, getPackaged } from "../src/agents/registry.ts";

const README = join(import.meta.dirname, "..", "README.md");
const BEGIN = "<!-- agents: written by scripts/agents-table.ts -->";
const END = "<!-- /agents -->";
const COLUMNS = ["hooks", "chat", "tokens", "rewind", "run"] as const;

export async function agentsTable(): Promise<string> {
  const agents: Agent[] = [];
  for (const id of Object.keys(PACKAGED)) agents.push(await getPackaged(id));
  agents.sort((a, b) => a.profile.display_name.localeCompare(b.profile.display_name, "en"));
  return [
    `| agent | ${COLUMNS.join(" | ")} | tested with |`,
    `| --- |${" --- |".repeat(COLUMNS.length + 1)}`,
    ...agents.map(row),
  ].join("\n");
}

function row(agent: Agent): string {
  const { display_name: name, id, tested_versions: versions, preview } = agent.profile;
  const can = capabilitiesOf(agent);
  const cells = COLUMNS.map((column) => {
    if (can[column]) return "yes";
    return column === "hooks" && agent.watcher ? "`watch`" : "–";
  });
  const tested = versions.at(-1) ?? (preview ? "preview" : "–");
  return `| ${name} (\`${id}\`) | ${cells.join(" | ")} | ${tested} |`;
}

/** The README with the table as it is now; throws where the marks are missing. */
export async function withTable(readme: string): Promise<string> {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`README.md has no place for the table: ${BEGIN} … ${END}`);
  return `${readme.slice(0, begin + BEGIN.length)}\n${await agentsTable()}\n${readme.slice(end)}`;
}

if (import.meta.main) {
  const before = readFileSync(README, "utf8");
  const after = await withTable(before);
  if (before === after) process.exit(0);
  if (process.argv.includes("--check")) {
    process.stderr.write("The table of agents in README.md is not up to date: run scripts/agents-table.ts\n");
    process.exit(1);
  }
  writeFileSync(README, after);
}
