/** Redacts files for `redact scan` and `redact test`. Reports locations and excerpts, never a secret itself. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { codeOf, messageOf, UserError } from "../../../base/errors.ts";
import { oneLine, shownPath } from "../../../base/text.ts";
import type { SettingProblem } from "../../../config/load.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import { PlaceholderTable, restorePlaceholders } from "../../../transcripts/redact/placeholders.ts";
import { createRedactor, type Redacted } from "../../../transcripts/redact/redactor.ts";
import { problemText, settingsOf } from "../../shared/settings.ts";
import type { Io } from "../../terminal/io.ts";

export interface Found {
  rule: string;
  placeholder: string;
  /** Both count from 1; the column counts characters. */
  line: number;
  column: number;
  /** The length of the secret in bytes. */
  length: number;
  /** The placeholder with its surrounding text, after everything is redacted. */
  excerpt: string;
}

export interface RedactedFile {
  file: string;
  redacted: Buffer;
  found: Found[];
  /** Whether the placeholders restore exactly the same bytes. */
  exact: boolean;
}

const AROUND = 30;

/** Uses the settings of the current folder and writes nothing. */
export async function redactFiles(
  names: readonly string[],
  io: Io,
): Promise<{ files: RedactedFile[]; problems: string[] }> {
  const workspace = findWorkspace(io.cwd);
  const { config, problems } = settingsOf(workspace);
  const redactor = await createRedactor(config.redaction);
  const placeholders = new PlaceholderTable();
  const files = names.map((file): RedactedFile => {
    const bytes = read(resolve(io.cwd, file), file);
    const result = redactor.redact(bytes, { placeholders });
    const exact = restorePlaceholders(result.bytes, placeholders).equals(bytes);
    return { file, redacted: result.bytes, found: placesOf(bytes, result), exact };
  });
  return { files, problems: problems.filter(isOurs).map((problem) => problemText(problem, workspace?.root ?? null)) };
}

export function printProblems(problems: readonly string[], io: Io): void {
  for (const problem of problems) io.say(`${io.err.paint("yellow", "warning:")} ${problem}`);
}

/** `config` and `doctor` report problems with other settings. */
function isOurs({ key }: SettingProblem): boolean {
  return key === null || key.startsWith("redaction");
}

function placesOf(bytes: Buffer, { bytes: redacted, found }: Redacted): Found[] {
  let line = 1;
  let lineStart = 0;
  let shift = 0;
  return found.map(({ rule, start, end, placeholder }) => {
    for (let at = bytes.indexOf(10, lineStart); at >= 0 && at < start; at = bytes.indexOf(10, lineStart)) {
      line++;
      lineStart = at + 1;
    }
    const column = bytes.toString("utf8", lineStart, start).length + 1;
    const excerpt = excerptAt(redacted, start + shift, placeholder.length);
    shift += placeholder.length - (end - start);
    return { rule, placeholder, line, column, length: end - start, excerpt };
  });
}

function excerptAt(redacted: Buffer, start: number, length: number): string {
  const from = Math.max(redacted.lastIndexOf(10, start - 1) + 1, start - AROUND, 0);
  const newline = redacted.indexOf(10, start);
  const to = Math.min(newline < 0 ? redacted.length : newline, start + length + AROUND);
  return oneLine(redacted.toString("utf8", from, to).replaceAll("\ufffd", ""));
}

function read(path: string, name: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw new UserError("not-found", `There is no file ${shownPath(name)}.`);
    if (codeOf(error) === "EISDIR")
      throw new UserError("usage", `${shownPath(name)} is a directory.`, "Name the files in it.");
    throw new UserError("failed", `${shownPath(name)} cannot be read: ${oneLine(messageOf(error))}`);
  }
}
