/** `agents check <agent>`: tests a profile against a recording of its agent. */

import { resolve } from "node:path";
import { type CheckReport, checkAgent } from "../../../agents/authoring/check.ts";
import { oneLine, plural, printable, shorten, shownPath } from "../../../base/text.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { type Cell, table } from "../../render/layout/table.ts";
import { PROVABLE_NAMES, proofText } from "../../render/words/agents/proofs.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import type { agentsCheckCommand } from "./commands.ts";

const MAX_LINES = 40;

type Options = OptionsOf<typeof agentsCheckCommand>;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const given = options.from ?? options.fixtures;
  const fixtures = given === undefined ? undefined : resolve(io.cwd, given);
  const isFile = options.agent.endsWith(".json");
  const report = await checkAgent(isFile ? resolve(io.cwd, options.agent) : options.agent, { fixtures });
  if (options.json) io.json(report);
  else tell(report, io, options.all === true);
  return report.ok ? undefined : EXIT.failed;
}

function tell(report: CheckReport, io: Io, isAll: boolean): void {
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
    { text: payload.prompt === null ? "" : `"${shorten(oneLine(payload.prompt), 60)}"` },
  ]);
  for (const line of table(rows, io.out.columns, 2)) io.print(line);
  for (const { file, lines } of report.transcripts) {
    if (lines.length > 0) io.print(`  ${shownPath(file)}`);
    for (const line of table(lineRows(isAll ? lines : lines.slice(0, MAX_LINES)), io.out.columns, 2)) io.print(line);
    if (!isAll && lines.length > MAX_LINES) io.print(`  … ${lines.length - MAX_LINES} more; --all shows them`);
  }
  for (const { file, problems } of [...report.payloads, ...report.transcripts]) {
    for (const problem of problems) bad(`${shownPath(file)}: ${problem}`);
  }
  const fields = report.fields.map(({ field, found }) => `${field} ${found}/${report.payloads.length}`);
  if (report.payloads.length > 0 && fields.length > 0) {
    io.printMessage(`Fields found: ${fields.join(", ")}.`);
  }
  for (const text of transcriptTexts(report)) io.printMessage(text);
  if (report.payloads.length === 0 && report.transcripts.length === 0)
    io.printMessage(`Nothing recorded in ${placeOf(report.fixtures, null)}. Choose another directory with --from.`);
  else if (report.unproven.length > 0)
    io.printMessage(`Nothing recorded of: ${report.unproven.map(printable).join(", ")}.`);
  tellProofs(report, io);
}

/** The proven and unproven promises, and the verdict. A profile is proven only if every promise is. */
function tellProofs({ id, ok, payloads, transcripts, proofs }: CheckReport, io: Io): void {
  const { paint } = io.out;
  for (const { what, state, by } of proofs) {
    const mark =
      state === "proven" ? paint("green", "✓") : state === "absent" ? paint("dim", "-") : paint("yellow", "?");
    io.print(`  ${mark} ${proofText(what, state, by)}`);
  }
  const open = proofs.filter(({ state }) => state === "unproven").map(({ what }) => PROVABLE_NAMES[what]);
  const payloadCount = payloads.filter(({ example }) => !example).length;
  // An agent without hooks is known by its transcripts alone.
  const isRead = payloads.length === 0 && transcripts.length > 0;
  const recorded = isRead ? transcripts.length : payloadCount;
  const evidence = plural(recorded, isRead ? "recorded transcript" : "recorded payload");
  if (!ok) io.printMessage(`${id} is ${paint("red", "not proven")}.`);
  else if (recorded === 0 && payloads.length === 0)
    io.printMessage(`${id} is a valid profile. Nothing was recorded that could prove it.`);
  else if (recorded === 0) io.printMessage(`${id} passes its examples. Add real payloads beside them to prove it.`);
  else if (open.length > 0)
    io.printMessage(`${id} holds for ${evidence}. ${paint("yellow", "Not proven")}: ${open.join(", ")}.`);
  else io.printMessage(`${id} is ${paint("green", "proven")} by ${evidence}.`);
}

function lineRows(lines: CheckReport["transcripts"][number]["lines"]): Cell[][] {
  return lines.map(({ line, rule, is, text }) => [
    { text: String(line) },
    { text: rule === null ? is : `rules.${rule} ${is}` },
    { text: shorten(oneLine(text), 80) },
  ]);
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
