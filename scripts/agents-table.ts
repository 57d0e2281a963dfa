/**
 * The table of agents in the README and the page about them, made from the code: what each can do, the version that it
 * was tried with, and why it can't do the rest. `--check` writes nothing and fails where they are not up to date.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../src/agents/contract/agent.ts";
import { PACKAGED } from "../src/agents/registry/packaged.ts";
import { capabilitiesOf, getPackaged } from "../src/agents/registry/registry.ts";
import { wrapMarkdown } from "./wrap-markdown.ts";

const README = join(import.meta.dirname, "..", "README.md");
export const PAGE = join(import.meta.dirname, "..", "docs", "agents.md");
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

const WITHOUT: Readonly<Record<(typeof COLUMNS)[number], string>> = {
  hooks: "It has no hooks.",
  chat: "Its conversations are not read.",
  tokens: "Its conversations have no token counts.",
  rewind: "Its conversations can't be copied, so the code goes back alone.",
  run: "It can't be run without a terminal.",
};

/** The page about all agents: what each can do, how it is connected, and why it can't do the rest. */
export async function agentsPage(): Promise<string> {
  const agents: Agent[] = [];
  for (const id of Object.keys(PACKAGED)) agents.push(await getPackaged(id));
  agents.sort((a, b) => a.profile.display_name.localeCompare(b.profile.display_name, "en"));
  return wrapMarkdown(`# Agents

\`scripts/agents-table.ts\` writes this page from the profiles and the code.

${await agentsTable()}

*Hooks*: every turn is recorded as it happens. *Chat*: prompts, answers and the files that tools wrote are known.
*Tokens*: counted for each turn. *Rewind*: the conversation goes back together with the code. *Run*: can be started
without a terminal. *Tested with*: the version that was really run, offline. [Adding an agent](adding-an-agent.md)
takes one file.

${agents.map(section).join("\n")}`);
}

function section(agent: Agent): string {
  const { profile } = agent;
  const can = capabilitiesOf(agent);
  const settings = profile.hooks?.settings ?? {};
  const files = [...new Set(Object.entries(settings).map(([scope, file]) => fileText(scope, file?.path)))];
  const missing = COLUMNS.filter((column) => !can[column]).map((column) => {
    const why = column === "hooks" && agent.watcher ? "`backtrail watch` follows a file that it writes." : null;
    return `- No ${column}: ${profile.cannot?.[column] ?? why ?? WITHOUT[column]}`;
  });
  const lines = [
    `## ${profile.display_name}`,
    "",
    `${profile.description ?? profile.display_name}. \`backtrail enable --agent ${profile.id}\``,
    "",
    ...(files.length > 0 ? [`- Hooks are in ${files.join(", ")}.`] : []),
    ...(profile.like ? [`- Its profile is like \`${profile.like}\`.`] : []),
    ...(profile.hooks?.review ? [`- ${capitalized(profile.hooks.review)}`] : []),
    ...(profile.preview
      ? [`- Preview: not tested with the real program.${isRecorded(profile.id) ? "" : UNRECORDED}`]
      : []),
    ...missing,
  ];
  return `${lines.join("\n")}\n`;
}

/** What `enable` prints after the agent's name is a sentence of its own here. */
function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const UNRECORDED = " It is written from what is documented of it; nothing of it was recorded.";

function isRecorded(id: string): boolean {
  return existsSync(join(import.meta.dirname, "..", "test", "agents", id));
}

function fileText(scope: string, path: string | undefined): string {
  if (path === undefined) return "a place of your choice";
  return scope === "user" ? `\`~/${path}\`` : `\`${path}\``;
}

/** The README with the table as it is now; throws where the marks are missing. */
export async function withTable(readme: string): Promise<string> {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`README.md has no place for the table: ${BEGIN} … ${END}`);
  return `${readme.slice(0, begin + BEGIN.length)}\n${await agentsTable()}\n${readme.slice(end)}`;
}

if (import.meta.main) {
  const check = process.argv.includes("--check");
  for (const [file, after] of [
    [README, await withTable(readFileSync(README, "utf8"))],
    [PAGE, await agentsPage()],
  ] as const) {
    if (existsSync(file) && readFileSync(file, "utf8") === after) continue;
    if (check) {
      process.stderr.write(`${file} is not up to date: run scripts/agents-table.ts\n`);
      process.exitCode = 1;
    } else writeFileSync(file, after);
  }
}
