/** `doctor`: what is wrong and what to do about it. */
import { plural, printable } from "../../../base/text.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../../git/workspace.ts";
import { diagnose, repair } from "../../../lifecycle/doctor.ts";
import { type Finding, ok, problem } from "../../../lifecycle/finding.ts";
import { startedRestores } from "../../../restore/journal.ts";
import { recover } from "../../../restore/recover.ts";
import { ownExecutable } from "../../executable.ts";
import { EXIT } from "../../exit.ts";
import type { Io, Style } from "../../io.ts";
import { withProgress } from "../../progress.ts";
import { wrap } from "../../render/text.ts";

interface Options {
  check?: boolean;
  fix?: boolean;
  json?: boolean;
}

const MARKS: Readonly<Record<Finding["level"], { mark: string; style: Style }>> = {
  ok: { mark: "✓", style: "green" },
  warning: { mark: "!", style: "yellow" },
  problem: { mark: "✗", style: "red" },
};

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = findWorkspace(io.cwd);
  const parts = { executable: ownExecutable(), thorough: !options.check };
  const look = async () => {
    const found = await withProgress(io, "Examining", () => diagnose(workspace, parts));
    return workspace && isEnabled(workspace) ? [...found, unfinishedRestores(workspace)] : found;
  };
  let findings = await look();
  let repaired: string[] = [];
  if (options.fix && workspace && isEnabled(workspace) && findings.some(({ fixable }) => fixable)) {
    repaired = [...(await recover(workspace)), ...(await repair(workspace, findings, parts))];
    findings = await look();
  }
  const isSound = !findings.some(({ level }) => level === "problem");
  if (options.json) io.json({ ok: isSound, findings, repaired });
  else tell(findings, repaired, io);
  return isSound ? undefined : EXIT.failed;
}

function unfinishedRestores(workspace: Workspace): Finding {
  const left = startedRestores(workspace).length;
  if (left === 0) return ok("restores", "none is unfinished");
  const hint = "The next command finishes it, or `backtrail doctor --fix`.";
  return problem("restores", `${plural(left, "rewind")} under way or cut off.`, hint, true);
}

function tell(findings: readonly Finding[], repaired: readonly string[], io: Io): void {
  const { paint, columns } = io.out;
  for (const sentence of repaired) io.print(`${paint("green", "fixed:")} ${printable(sentence)}`);
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, level, message, hint } of findings) {
    const { mark, style } = MARKS[level];
    const left = width + 4;
    const [first = "", ...rest] = wrap(printable(message), columns - left);
    io.print(`${paint(style, mark)} ${check.padEnd(width)}  ${first}`);
    for (const line of rest) io.print(" ".repeat(left) + line);
    if (hint) io.print(paint("cyan", `${" ".repeat(left)}${printable(hint)}`));
  }
  const problems = findings.filter(({ level }) => level === "problem").length;
  io.print("");
  io.print(problems === 0 ? paint("green", "Everything holds.") : paint("red", `${problems} to put right.`));
}
