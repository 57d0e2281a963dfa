/** The last part of docs/performance.md: the figures of separate benchmarks. `npm run bench` keeps it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const PAGE = join(import.meta.dirname, "..", "docs", "performance.md");
const HEADING = "## Measured by other commands";

/** Empty, or from its heading on. */
export function apart(page = readFileSync(PAGE, "utf8")): string {
  const at = page.indexOf(HEADING);
  return at < 0 ? "" : page.slice(at);
}

/** Replaces the section of this title, or adds it. */
export function writeApart(title: string, text: string): void {
  const page = readFileSync(PAGE, "utf8");
  const before = page.slice(0, page.length - apart(page).length).trimEnd();
  const others = apart(page)
    .split(/^### /m)
    .slice(1)
    .filter((section) => !section.startsWith(`${title}\n`));
  const sections = [...others.map((section) => section.trim()), `${title}\n\n${text.trim()}`];
  writeFileSync(PAGE, `${before}\n\n${HEADING}\n\n${sections.map((one) => `### ${one}\n`).join("\n")}`);
}
