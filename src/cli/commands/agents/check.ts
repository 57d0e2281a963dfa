/** `agents check <id>`: checks a profile against recorded payloads of its agent. */

import { resolve } from "node:path";
import { type CheckReport, checkAgent } from "../../../agents/authoring/check.ts";
import { plural, printable, shownPath } from "../../../base/text.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { type Cell, table } from "../../render/layout/table.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import type { agentsCheckCommand } from "./commands.ts";

type Options = OptionsOf<typeof agentsCheckCommand>;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const fixtures = options.fixtures === undefined ? undefined : resolve(io.cwd, options.fixtures);
  const report = await checkAgent(options.id, { fixtures });
  if (options.json) io.json(report);
  else tell(report, io);
  return report.ok ? undefined : EXIT.failed;
}

function tell(report: CheckReport, io: Io): void {
  const { paint } = io.out;
  const bad = (text: string) => io.print(`  ${paint("red", "✗")} ${printable(text)}`);
  for (const problem of report.problems) bad(`profile: ${problem}`);
  const rows = report.payloads.map((payload): Cell[] => [
    {
      text: payload.problems.length === 0 ? "✓" : "✗",
      paint: (text) => paint(payload.problems.length === 0 ? "green" : "red", text),
    },
    { text: shownPath(payload.file) },
    { text: `${printable(payload.event)} → ${payload.type ?? "ignored"}${payload.example ? " (example)" : ""}` },
  ]);
  for (const line of table(rows, io.out.columns, 2)) io.print(line);
  for (const { file, problems } of [...report.payloads, ...report.transcripts]) {
    for (const problem of problems) bad(`${shownPath(file)}: ${problem}`);
  }
  const fields = report.fields.map(({ field, found }) => `${field} ${found}/${report.payloads.length}`);
  if (report.payloads.length > 0 && fields.length > 0) {
    io.printMessage(`Fields found: ${fields.join(", ")}.`);
  }
  for (const text of transcriptTexts(report)) io.printMessage(text);
  if (report.payloads.length === 0)
    io.printMessage(`No recorded payloads in ${placeOf(report.fixtures, null)}; --fixtures names another place.`);
  else if (report.unproven.length > 0)
    io.printMessage(`Nothing recorded of: ${report.unproven.map(printable).join(", ")}.`);
  const recorded = report.payloads.filter(({ example }) => !example).length;
  if (!report.ok) io.printMessage(`${report.id} is ${paint("red", "not proven")}.`);
  else if (recorded > 0)
    io.printMessage(`${report.id} is ${paint("green", "proven")} by ${plural(recorded, "recorded payload")}.`);
  else io.printMessage(`${report.id} holds for its examples. Put what it really sends beside them to prove it.`);
}

/** Reports what the recorded transcripts contain, and every field that none of them contains. */
function transcriptTexts({ fields, lineFields, payloads, transcripts }: CheckReport): string[] {
  const said = transcripts.map(({ file, prompts, answers, files, tokens, model, cut }) => {
    const found = [
      plural(prompts, "prompt"),
      plural(answers, "answer"),
      plural(files, "file"),
      plural(tokens, "token"),
    ];
    return `${shownPath(file)}: ${found.join(", ")}, model ${model ? printable(model) : "unknown"}${cut ? ", can be cut" : ""}.`;
  });
  const missing = [
    ...(payloads.length > 0
      ? fields.filter(({ found }) => found === 0).map(({ field }) => `hooks.fields.${field}`)
      : []),
    ...(transcripts.length > 0 ? lineFields : [])
      .filter(({ found }) => found === 0)
      .map(({ field }) => `transcript.lines.${field}`),
  ];
  return missing.length === 0 ? said : [...said, `Found nowhere: ${missing.join(", ")}.`];
}
