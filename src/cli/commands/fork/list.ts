/** `fork list`: lists forks and the worktrees of runs. */

import { now } from "../../../base/clock.ts";
import { oneLine, plural } from "../../../base/text.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { type ForkStatus, forkStatuses } from "../../../restore/fork/find.ts";
import type { ForkRecord } from "../../../steps/forks.ts";
import { stepsIn } from "../../../steps/log.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { forkJson } from "../../render/fork.ts";
import { placeOf } from "../../render/layout/location.ts";
import { table } from "../../render/layout/table.ts";
import { age } from "../../render/layout/time.ts";
import { openForReading } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import type { forkListCommand } from "./commands.ts";

type Options = OptionsOf<typeof forkListCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = await openForReading(io);
  const found = await forkStatuses(workspace);
  if (options.json) {
    io.json({ forks: found.map(({ record, ...rest }) => ({ ...forkJson(record), ...rest })) });
    return;
  }
  if (found.length === 0) {
    io.say("There are no forks. Create one with `backtrail fork <step>`.");
    return;
  }
  const { paint } = io.out;
  const prompts = promptsOfRuns(
    workspace,
    found.map(({ record }) => record),
  );
  const rows = found.map(({ record, state, turns, lastTime }) => [
    { text: record.name, paint: (text: string) => paint("bold", text) },
    age(lastTime, now()),
    state === "ready" ? plural(turns, "turn") : WORDS[state],
    oneLine(originOf(record, prompts)),
  ]);
  const lines = table(rows, io.out.columns);
  for (const [i, standing] of found.entries()) {
    io.print(lines[i] ?? "");
    io.print(paint("dim", `  ${whereabouts(standing)}`));
  }
}

const WORDS: Readonly<Record<Exclude<ForkStatus["state"], "ready">, string>> = {
  running: "running",
  making: "being made",
  dropping: "being dropped",
  gone: "gone",
  unlinked: "not linked: see `git worktree repair`",
};

/** The first prompt of each run, by session, as far as it was recorded. */
function promptsOfRuns(workspace: Workspace, records: readonly ForkRecord[]): ReadonlyMap<string, string> {
  const prompts = new Map<string, string>();
  for (const { run, worktree } of records) {
    if (!run || run.session === null || worktree === null) continue;
    const [begun] = stepsIn(workspace)
      .list({ session: run.session, worktree, kinds: ["turn-start"] })
      .slice(-1);
    if (begun?.prompt != null) prompts.set(run.session, begun.prompt);
  }
  return prompts;
}

function originOf({ run, from, commit }: ForkRecord, prompts: ReadonlyMap<string, string>): string {
  if (run) return run.session === null ? "run" : (prompts.get(run.session) ?? `run ${run.session}`);
  return from.prompt ?? `from ${from.step ?? commit?.slice(0, 12) ?? "nothing"}`;
}

function whereabouts({ record, directory }: ForkStatus): string {
  const branch = record.branch === null ? "" : `branch ${oneLine(record.branch)}`;
  if (directory === null) return branch;
  return branch === "" ? placeOf(directory, null) : `${placeOf(directory, null)}, ${branch}`;
}
