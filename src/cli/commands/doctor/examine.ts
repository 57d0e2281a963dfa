/** `doctor`: reports problems and how to fix them. */

import { recover } from "../../../api/restore/recover.ts";
import { plural, printable } from "../../../base/text.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../../git/workspace.ts";
import { diagnose, repair } from "../../../maintenance/doctor/doctor.ts";
import { type Finding, ok, problem } from "../../../maintenance/doctor/finding.ts";
import { startedRestores } from "../../../restore/apply/journal.ts";
import { logsDirectory } from "../../../run/log/layout.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { wrapAfter } from "../../render/layout/text.ts";
import { noteText } from "../../render/words/restore/notes.ts";
import { findingText, repairText } from "../../render/words/setup/doctor.ts";
import { ownExecutable } from "../../shared/executable.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io, Style } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { doctorExamineCommand } from "./commands.ts";

type Options = OptionsOf<typeof doctorExamineCommand>;

const MARKS: Readonly<Record<Finding["level"], { mark: string; style: Style }>> = {
  ok: { mark: "✓", style: "green" },
  warning: { mark: "!", style: "yellow" },
  problem: { mark: "✗", style: "red" },
};

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = findWorkspace(io.cwd);
  const parts = {
    executable: ownExecutable(),
    thorough: !options.check,
    logs: logsDirectory(io.cwd, io.environment),
  };
  const look = async () => {
    const found = await withProgress(io, "Examining", () => diagnose(workspace, parts));
    return workspace && isEnabled(workspace) ? [...found, unfinishedRestores(workspace)] : found;
  };
  let findings = await look();
  let repaired: string[] = [];
  if (options.fix && workspace && isEnabled(workspace) && findings.some(({ fixable }) => fixable)) {
    repaired = [
      ...(await recover(workspace)).map(noteText),
      ...(await repair(workspace, findings, parts)).map(repairText),
    ];
    findings = await look();
  }
  const isSound = !findings.some(({ level }) => level === "problem");
  if (options.json) io.json({ ok: isSound, findings: findings.map(findingJson), repaired });
  else printReport(findings, repaired, io);
  return isSound ? undefined : EXIT.failed;
}

function unfinishedRestores(workspace: Workspace): Finding {
  const left = startedRestores(workspace).length;
  if (left === 0) return ok("restores", { kind: "restores-done" });
  return problem("restores", { kind: "restores-unfinished", restores: left }, true);
}

function findingJson(finding: Finding) {
  const { check, level, fact, fixable } = finding;
  const { kind, ...data } = fact;
  return { check, level, kind, ...findingText(finding), fixable, data };
}

function printReport(findings: readonly Finding[], repaired: readonly string[], io: Io): void {
  const { paint, columns } = io.out;
  for (const sentence of repaired) io.printMessage(`${paint("green", "fixed:")} ${printable(sentence)}`);
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const finding of findings) {
    const { check, level } = finding;
    const { message, hint } = findingText(finding);
    const { mark, style } = MARKS[level];
    const left = width + 4;
    const start = `${paint(style, mark)} ${check.padEnd(width)}  `;
    for (const line of wrapAfter(start, printable(message), columns)) io.print(line);
    if (hint) for (const line of wrapAfter(" ".repeat(left), printable(hint), columns)) io.print(paint("cyan", line));
  }
  io.print("");
  io.print(verdict(findings, io));
}

/** Claims no more than the findings do: a warning is not "fine". */
function verdict(findings: readonly Finding[], io: Io): string {
  const { paint } = io.out;
  const count = (wanted: Finding["level"]) => findings.filter(({ level }) => level === wanted).length;
  const [problems, warnings] = [count("problem"), count("warning")];
  if (problems > 0)
    return paint("red", `${plural(problems, "problem")}${warnings > 0 ? `, ${plural(warnings, "warning")}` : ""}.`);
  return warnings > 0
    ? paint("yellow", `No problems, ${plural(warnings, "warning")}.`)
    : paint("green", "No problems.");
}
