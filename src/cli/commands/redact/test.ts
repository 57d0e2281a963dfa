/** `redact test <file>`: shows a file as a checkpoint would store it, and whether it can be restored exactly. */

import { plural, printable } from "../../../base/text.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { type Cell, table } from "../../render/layout/table.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { redactTestCommand } from "./commands.ts";
import { printProblems, redactFiles } from "./files.ts";

type Options = OptionsOf<typeof redactTestCommand>;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const { files, problems } = await withProgress(io, "Redacting", () => redactFiles([options.file], io));
  const [result] = files;
  if (!result) return undefined;
  const { found, exact, redacted } = result;
  if (options.json) {
    io.json({ file: result.file, found, exact, ...(options.whole ? { redacted: redacted.toString("utf8") } : {}) });
  } else if (options.whole) io.out.write(printable(redacted.toString("utf8")));
  else {
    const rows = found.map(({ line, excerpt }): Cell[] => [
      { text: `${line}`, paint: (text) => io.out.paint("dim", text) },
      { text: printable(excerpt), paint: (text) => marked(text, io) },
    ]);
    for (const line of table(rows, io.out.columns)) io.print(line);
  }
  if (!options.json) {
    const count =
      found.length === 0 ? "Nothing looks secret." : `${plural(found.length, "secret")} would be taken out.`;
    io.say(`${count} ${exact ? "The way back is exact." : "The way back is NOT exact: please tell us."}`);
  }
  printProblems(problems, io);
  return exact ? undefined : EXIT.failed;
}

function marked(text: string, io: Io): string {
  return text.replace(/\[secret:[a-z0-9-]+:\d+\]/g, (placeholder) => io.out.paint("yellow", placeholder));
}
