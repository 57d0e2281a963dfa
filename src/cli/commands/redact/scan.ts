/** `redact scan <file>…`: reports where files contain secrets, without showing them. */

import { plural, printable, shownPath } from "../../../base/text.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { type Cell, table } from "../../render/layout/table.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { redactScanCommand } from "./commands.ts";
import { type Found, printProblems, redactFiles } from "./files.ts";

type Options = OptionsOf<typeof redactScanCommand>;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const { files, problems } = await withProgress(io, "Searching for secrets", () => redactFiles(options.files, io));
  const count = files.reduce((sum, { found }) => sum + found.length, 0);
  if (options.json) {
    io.json({ files: files.map(({ file, found }) => ({ file, found: found.map(withoutPlace) })), count });
  } else {
    const rows = files.flatMap(({ file, found }) => found.map((one) => cells(file, one, io)));
    for (const line of table(rows, io.out.columns)) io.print(line);
    const where = plural(files.length, "file");
    io.say(count === 0 ? `Nothing looks secret in ${where}.` : `${plural(count, "secret")} in ${where}.`);
  }
  printProblems(problems, io);
  return options.check && count > 0 ? EXIT.failed : undefined;
}

function cells(file: string, { line, column, rule, length }: Found, io: Io): Cell[] {
  return [
    { text: `${shownPath(file)}:${line}:${column}` },
    { text: printable(rule), paint: (text) => io.out.paint("yellow", text) },
    { text: plural(length, "byte"), paint: (text) => io.out.paint("dim", text) },
  ];
}

function withoutPlace({ excerpt: _excerpt, ...one }: Found): Omit<Found, "excerpt"> {
  return one;
}
