/**
 * Wraps prose in Markdown at 100 columns; tables, code, headings and indented blocks stay as they are.
 * `node scripts/bun.mjs scripts/wrap-markdown.ts` wraps every page of the documentation.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readPages } from "./docs.ts";

const MAX_COLUMNS = 100;

const ITEM = /^(\s*)([-*]|\d+\.)\s+/;

export function wrapMarkdown(text: string): string {
  const out: string[] = [];
  let block: string[] = [];
  let isCode = false;
  const flush = () => {
    out.push(...(block.some((line) => line.length > MAX_COLUMNS) ? wrapBlock(block) : block));
    block = [];
  };
  for (const line of text.split("\n")) {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    if (isFence || isCode || isVerbatim(line)) {
      flush();
      out.push(line);
      continue;
    }
    if (ITEM.test(line)) flush();
    block.push(line);
  }
  flush();
  return out.join("\n");
}

/** Prose lines that are too long, for a check: code, tables and lines of one word, such as a long link, don't count. */
export function longLines(text: string): string[] {
  const wrapped = new Set(wrapMarkdown(text).split("\n"));
  return text.split("\n").filter((line) => line.length > MAX_COLUMNS && !wrapped.has(line));
}

function isVerbatim(line: string): boolean {
  return line.trim() === "" || /^(?:[|#<]| {4})/.test(line);
}

function wrapBlock(block: readonly string[]): string[] {
  const first = block[0] ?? "";
  const mark = ITEM.exec(first)?.[0] ?? /^\s*/.exec(first)?.[0] ?? "";
  const text = [first.slice(mark.length), ...block.slice(1)].map((line) => line.trim()).join(" ");
  const lines: string[] = [];
  let line = mark;
  // Code in backquotes is not broken.
  for (const word of text.match(/(?:`[^`]*`|[^\s`])+/g) ?? []) {
    const isStart = line.trim() === mark.trim() && line.length <= mark.length;
    if (!isStart && line.length + 1 + word.length > MAX_COLUMNS) {
      lines.push(line);
      line = " ".repeat(mark.length) + word;
    } else line += isStart ? word : ` ${word}`;
  }
  return [...lines, line];
}

if (import.meta.main) {
  const root = join(import.meta.dirname, "..");
  for (const { path, text } of readPages(root)) {
    if (longLines(text).length > 0) writeFileSync(join(root, path), wrapMarkdown(text));
  }
}
