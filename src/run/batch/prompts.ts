/** Reads many prompts from one file: one per line, or blocks separated by `---` lines. */

import { readFileSync, statSync } from "node:fs";
import { codeOf, UserError } from "../../base/errors.ts";
import { shownPath } from "../../base/text.ts";
import { RunError } from "../problems.ts";

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_PROMPTS = 10_000;

export function readPrompts(path: string): string[] {
  return requirePrompts(textOf(path), shownPath(path));
}

/** `where` names the source in error messages. */
export function requirePrompts(text: string, where: string): string[] {
  const prompts = promptsIn(text);
  if (prompts.length === 0) {
    throw new RunError("usage", { kind: "no-prompts", where });
  }
  if (prompts.length <= MAX_PROMPTS) return prompts;
  throw new RunError("usage", { kind: "too-many-prompts", where, count: prompts.length, limit: MAX_PROMPTS });
}

export function promptsIn(text: string): string[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const blocks = lines.some(isSeparator) ? joined(lines) : lines;
  return blocks.map((block) => block.trim()).filter((block) => block !== "");
}

function joined(lines: readonly string[]): string[] {
  const blocks: string[][] = [[]];
  for (const line of lines) {
    if (isSeparator(line)) blocks.push([]);
    else blocks.at(-1)?.push(line);
  }
  return blocks.map((block) => block.join("\n"));
}

function isSeparator(line: string): boolean {
  return line.trimEnd() === "---";
}

function textOf(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new RunError("usage", { kind: "prompts-too-large", path, bytes: size });
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new RunError("usage", { kind: "prompts-unreadable", path, reason: codeOf(error) ?? String(error) });
  }
}
