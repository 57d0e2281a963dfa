/** `redact test <file>`: what a file would look like in a checkpoint, and whether it comes back exactly. */
import { plural, printable } from "../../../base/text.ts";
import { EXIT } from "../../exit.ts";
import type { Io } from "../../io.ts";
import { withProgress } from "../../progress.ts";
import { type Cell, table } from "../../render/table.ts";
import { redactFiles, tellProblems } from "./files.ts";

interface Options {
  file: string;
  whole?: boolean;
  json?: boolean;
}

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
  tellProblems(problems, io);
  return exact ? undefined : EXIT.failed;
}

function marked(text: string, io: Io): string {
  return text.replace(/\[secret:[a-z0-9-]+:\d+\]/g, (placeholder) => io.out.paint("yellow", placeholder));
}
