/** The table in words: for the terminal as it grows, and whole for docs/performance.md. */
import { execFileSync } from "node:child_process";
import { availableParallelism, type as systemType } from "node:os";
import { cellsOf, HEADINGS, holds, type KeptRow, type Row } from "./row.ts";

function machine(): string {
  const git = execFileSync("git", ["--version"], { encoding: "utf8" }).trim().replace("git version", "git");
  return `${availableParallelism()} cores, ${systemType()} ${process.arch}, ${git}, Bun ${Bun.version}`;
}

/** Rows under the heading of their group. */
export function tables(rows: readonly Row[]): string {
  const groups = Map.groupBy(rows, (row) => row.group);
  return [...groups].map(([group, some]) => `### ${group}\n\n${table(some)}\n`).join("\n");
}

export function summary(rows: readonly Row[]): string {
  const failed = rows.filter((row) => !holds(row));
  const missed = failed.map((row) => `${row.group}: ${row.what}`);
  const sum = `${rows.length - failed.length} of ${rows.length} goals are reached.`;
  return missed.length === 0 ? sum : `${sum} Missed: ${missed.join("; ")}.`;
}

/** `how` they were measured: in one run, or one part after the other. */
export function page(rows: readonly KeptRow[], how: string): string {
  return `# Performance

Made by \`npm run bench\`, ${how}: ${machine()}.

Every row compares two things that were measured by turns, so that whatever slows the machine down
slows both. Numbers are medians, with the 10th and 90th percentile in parentheses; ratio and
difference are taken pair by pair. Programs are started directly, and their start counts. Hooks are
those of Claude Code, with payloads as it sends them, and a transcript that grows by 50 KB a turn
and already holds the answer: nothing waits for an agent to write. Changed files have content that
git has never seen; one in five is new. \`git status\` is
\`git status --porcelain=v2 -z -uall\`; \`git add\` is \`git add --all\` into a copy of the index.

${summary(rows)}

${noisy(rows)}${tables(rows)}`;
}

function noisy(rows: readonly KeptRow[]): string {
  const some = rows.filter(({ noise }) => typeof noise === "string");
  const groups = [...new Set(some.map(({ group }) => group))];
  if (groups.length === 0) return "";
  const list = groups.map((group) => `- ${group}\n`).join("");
  return `The machine was busy with other work while these were measured, so their times are too long:\n\n${list}\n`;
}

function table(rows: readonly Row[]): string {
  const lines = [HEADINGS, HEADINGS.map(() => "---"), ...rows.map(cellsOf)];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
