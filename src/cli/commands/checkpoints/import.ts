/** `import`: imports sessions from before Backtrail, from an agent's own transcripts. */

import { requireAgent } from "../../../agents/registry/registry.ts";
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { oneLine, plural, shortSession } from "../../../base/text.ts";
import { type ImportReport, importSessions } from "../../../checkpoints/import/import.ts";
import { copiesIn } from "../../../search/sources/copies.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { placeOf } from "../../render/layout/location.ts";
import { table } from "../../render/layout/table.ts";
import { age } from "../../render/layout/time.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { importCommand } from "./commands.ts";

type Options = OptionsOf<typeof importCommand>;

const WHY: Readonly<Record<ImportReport["skipped"][number]["why"], string>> = {
  recorded: "recorded by Backtrail already",
  copy: "copied by Backtrail",
  imported: "imported already",
  empty: "without a prompt",
  "too-large": "too large",
  unreadable: "unreadable",
};

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await openWorkspace(io);
  const agent = await requireAgent(options.agent);
  const report = await withProgress(io, "Reading transcripts", () =>
    importSessions(workspace, agent, { dryRun: options.dryRun === true, copies: copiesIn(workspace) }),
  );
  if (options.json) {
    io.json({ agent: agent.profile.id, dryRun: options.dryRun === true, ...report });
    return;
  }
  const { sessions, skipped } = report;
  const name = agent.profile.display_name;
  if (sessions.length === 0 && skipped.length === 0) {
    throw new UserError(
      "not-found",
      `No conversation of ${name} about this folder was found in ${placeOf(report.directory, null)}.`,
      "Backtrail searches only conversations that were started in this folder or below it.",
    );
  }
  const rows = sessions.map(({ session, turns }) => [
    shortSession(session),
    turns[0]?.time ? age(turns[0].time, now()) : "",
    plural(turns.length, "turn"),
    oneLine(turns[0]?.prompt ?? ""),
  ]);
  if (rows.length > 0) io.print(table(rows, io.out.columns).join("\n"));
  const did = options.dryRun ? "would be imported" : "imported";
  io.say(`${plural(sessions.length, "session")} of ${name} ${did}, without snapshots.${skippedText(skipped)}`);
  if (sessions[0] && !options.dryRun)
    io.say(`See one with \`backtrail explain ${shortSession(sessions[0].session)}\`.`);
}

function skippedText(skipped: ImportReport["skipped"]): string {
  const counts = new Map<string, number>();
  for (const { why } of skipped) counts.set(WHY[why], (counts.get(WHY[why]) ?? 0) + 1);
  if (counts.size === 0) return "";
  return ` Left alone: ${[...counts].map(([why, count]) => `${count} ${why}`).join(", ")}.`;
}
