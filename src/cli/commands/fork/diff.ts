/** `fork diff`: compares two attempts side by side. */

import { printable, shownPath } from "../../../base/text.ts";
import { changedPaths } from "../../../model/changes.ts";
import { type Attempt, type Comparison, compareFork } from "../../../restore/fork/compare.ts";
import { findFork } from "../../../restore/fork/find.ts";
import { patch } from "../../../steps/diff.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { colorDiff } from "../../render/diff.ts";
import { summaryOf } from "../../render/files.ts";
import { forkJson } from "../../render/fork.ts";
import { costWords } from "../../render/layout/amounts.ts";
import { pad } from "../../render/layout/text.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import type { Io, Paint } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { forkDiffCommand } from "./commands.ts";

type Options = OptionsOf<typeof forkDiffCommand>;

const SHOWN_FILES = 30;

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await openWorkspace(io);
  const record = await findFork(workspace, options.fork, "beginning");
  const compared = await withProgress(io, "Comparing", () => compareFork(workspace, record));
  const { here, there } = compared;
  const difference = options.patch ? await patch(workspace, here.tree, there.tree) : undefined;
  if (options.json) {
    const { both, same } = compared;
    io.json({
      fork: forkJson(record),
      here,
      there,
      both,
      same,
      ...(difference === undefined ? {} : { patch: difference }),
    });
    return;
  }
  for (const line of lines(compared, io.out.paint)) io.print(line);
  if (difference !== undefined) io.print(`\n${colorDiff(difference, io.out.paint)}`);
}

function lines(compared: Comparison, paint: Paint): string[] {
  const { record, here, there } = compared;
  const name = printable(record.name);
  const width = Math.max(18, name.length + 2);
  const row = (title: string, a: string, b: string) => `  ${title.padEnd(8)}${pad(a, width)}${b}`;
  const shown = (attempt: Attempt) => summaryOf(attempt.files, paint) || "none";
  return [
    paint("bold", row("", "here", name).trimEnd()),
    row("files", shown(here), shown(there)),
    row("lines", linesOf(here, paint), linesOf(there, paint)),
    row("turns", String(here.turns), String(there.turns)),
    row("tokens", tokensOf(here), tokensOf(there)),
    row("cost", costOf(here), costOf(there)),
    row("time", timeOf(here), timeOf(there)),
    "",
    ...fileRows(compared, paint),
  ];
}

/** `=` the same in both, `≠` changed by both, `<` only here, `>` only there. */
function fileRows({ here, there, both, same }: Comparison, paint: Paint): string[] {
  const [differ, equal] = [new Set(both), new Set(same)];
  const all = (attempt: Attempt) => changedPaths(attempt.files);
  const ours = new Set(all(here));
  const paths = [...new Set([...ours, ...all(there)])].sort();
  const rows = paths.map((path) => {
    if (differ.has(path)) return `  ${paint("red", "≠")} ${shownPath(path)}`;
    if (equal.has(path)) return `  ${paint("dim", "=")} ${shownPath(path)}`;
    return `  ${paint("cyan", ours.has(path) ? "<" : ">")} ${shownPath(path)}`;
  });
  if (rows.length === 0) return [paint("dim", "  Neither has changes.")];
  const left = rows.length - SHOWN_FILES;
  const key = paint("dim", "  changed: < only here, > only there, = alike in both, ≠ differently");
  return [...rows.slice(0, SHOWN_FILES), ...(left > 0 ? [paint("dim", `  … and ${left} more`)] : []), key];
}

function linesOf({ lines: { added, deleted } }: Attempt, paint: Paint): string {
  return added + deleted === 0 ? "none" : `${paint("green", `+${added}`)} ${paint("red", `-${deleted}`)}`;
}

function tokensOf({ tokens, turns }: Attempt): string {
  if (turns === 0) return "none";
  if (!tokens) return "unknown";
  return String(tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite);
}

function costOf({ cost, turns }: Attempt): string {
  if (turns === 0) return "none";
  return costWords(cost);
}

function timeOf({ seconds }: Attempt): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
