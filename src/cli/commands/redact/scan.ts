/** `redact scan <file>…`: where secrets are in files, without showing them. */
import { plural, printable, shownPath } from "../../../base/text.ts";
import { EXIT } from "../../exit.ts";
import type { Io } from "../../io.ts";
import { withProgress } from "../../progress.ts";
import { type Cell, table } from "../../render/table.ts";
import { type Found, redactFiles, tellProblems } from "./files.ts";

interface Options {
  files: string[];
  check?: boolean;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const { files, problems } = await withProgress(io, "Looking for secrets", () => redactFiles(options.files, io));
  const count = files.reduce((sum, { found }) => sum + found.length, 0);
  if (options.json) {
    io.json({ files: files.map(({ file, found }) => ({ file, found: found.map(withoutPlace) })), count });
  } else {
    const rows = files.flatMap(({ file, found }) => found.map((one) => cells(file, one, io)));
    for (const line of table(rows, io.out.columns)) io.print(line);
    const where = plural(files.length, "file");
    io.say(count === 0 ? `Nothing looks secret in ${where}.` : `${plural(count, "secret")} in ${where}.`);
  }
  tellProblems(problems, io);
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
