/** Many prompts in one file: one a line, or blocks between lines of `---`. */
import { readFileSync, statSync } from "node:fs";
import { codeOf, UserError } from "../base/errors.ts";
import { plural, shownPath } from "../base/text.ts";

const LARGEST = 16 * 1024 * 1024;
const MOST = 10_000;

export function readPrompts(path: string): string[] {
  return requirePrompts(textOf(path), shownPath(path));
}

/** `where` is how a person calls the place that they come from. */
export function requirePrompts(text: string, where: string): string[] {
  const prompts = promptsIn(text);
  if (prompts.length === 0) {
    throw new UserError("usage", `There is no prompt in ${where}.`, "One a line, or between lines of `---`.");
  }
  if (prompts.length <= MOST) return prompts;
  throw new UserError("usage", `${where} has ${plural(prompts.length, "prompt")}; at most ${MOST} are run.`);
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
    if (size > LARGEST) throw new UserError("usage", `${shownPath(path)} is too large: ${size} bytes.`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError("usage", `${shownPath(path)} can't be read (${codeOf(error) ?? String(error)}).`);
  }
}
