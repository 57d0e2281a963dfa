/**
 * The table of settings in docs/formats/config.md, made from the code: values, defaults, how far a repository's files may
 * set them, meaning. `--check` writes nothing and fails where the table is not up to date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { meaningOf, ruleText } from "../src/cli/render/words/setup/settings.ts";
import { KEYS, type Key } from "../src/config/keys.ts";
import { defaultConfig, valueAt } from "../src/config/load.ts";
import { showSize } from "../src/config/values.ts";

const PAGE = join(import.meta.dirname, "..", "docs", "formats", "config.md");
const BEGIN = "<!-- settings: written by scripts/settings-table.ts -->";
const END = "<!-- /settings -->";

function settingsTable(): string {
  return [
    "| key | value | default | a file in the work tree | meaning |",
    "| --- | --- | --- | --- | --- |",
    ...KEYS.map(row),
  ].join("\n");
}

function row(key: Key): string {
  const name = key.name.replace("*", "<name>");
  const values = key.choices ? key.choices.map((choice) => `\`${choice}\``).join(", ") : key.kind;
  const rule = key.userOnly ? "can't set this; only your own file does" : ruleText(key.repository);
  return `| \`${name}\` | ${values} | ${shownDefault(key)} | ${rule} | ${meaningOf(key.name)} |`;
}

function shownDefault(key: Key): string {
  const value = key.name.includes("*") ? null : valueAt(defaultConfig(), key.name);
  if (value === null || value === undefined) return "unset";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map((item) => `\`${item}\``).join(", ");
  return `\`${key.kind === "size" ? showSize(value as number) : String(value)}\``;
}

/** The page with the table as it is now; throws where the marks are missing. */
export function withSettings(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`The page has no place for the table: ${BEGIN} … ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n${settingsTable()}\n${page.slice(end)}`;
}

if (import.meta.main) {
  const before = readFileSync(PAGE, "utf8");
  const after = withSettings(before);
  if (before === after) process.exit(0);
  if (process.argv.includes("--check")) {
    process.stderr.write("The table in docs/formats/config.md is not up to date: run scripts/settings-table.ts\n");
    process.exit(1);
  }
  writeFileSync(PAGE, after);
}
