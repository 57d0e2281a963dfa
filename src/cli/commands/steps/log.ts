/** `log`: shows the timeline, newest first, or the commits with the sessions behind them. */

import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { STEP_KINDS, type Step, TIMELINE_KINDS } from "../../../model/step.ts";
import { newestTurns, turnsWhere } from "../../../model/turn.ts";
import { readCheckResults } from "../../../restore/targets/check-results.ts";
import { readTurnStatuses } from "../../../restore/targets/turn-status.ts";
import { flatten, logsDirectory, nameOf, walkLogs } from "../../../run/log/layout.ts";
import { stepsIn } from "../../../steps/log.ts";
import { isEmptyQuery, matchesTurn } from "../../../steps/query/matches.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { colorDiff } from "../../render/diff.ts";
import { stepJson } from "../../render/step/json.ts";
import { accessibleTimeline } from "../../render/timeline/accessible.ts";
import { timeline } from "../../render/timeline/timeline.ts";
import { openRepository } from "../../shared/open-repository.ts";
import { openForReading } from "../../shared/workspace.ts";
import type { Io, Paint } from "../../terminal/io.ts";
import { page } from "../../terminal/pager.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { logCommand } from "./commands.ts";
import { patchesOf } from "./patches.ts";
import { queryOf } from "./query.ts";

const DEFAULT_TURNS = 20;

type Options = OptionsOf<typeof logCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  if (options.commits) {
    if (options.path?.length) {
      throw new UserError("usage", "`log --commits` takes no paths.", "`git log -- <path>` finds the commits.");
    }
    const { limit = DEFAULT_TURNS, all = false, json = false } = options;
    const { commitLog } = await import("./commit-log.ts");
    await commitLog(await openRepository(io), { limit, all, json }, io);
    return;
  }
  const workspace = await openForReading(io);
  const session = options.session === undefined ? undefined : stepsIn(workspace).sessionId(options.session);
  const limit = options.limit ?? (options.json ? 0 : DEFAULT_TURNS);
  // The safety steps between turns are needed to derive the status of each turn.
  const passed: Step[] = [];
  const worktree = options.all ? undefined : workspace.worktree;
  const kinds: readonly string[] = options.kind ?? (options.all ? STEP_KINDS : TIMELINE_KINDS);
  const found = stepsIn(workspace)
    .newestFirst({ session, worktree })
    .filter((step) => {
      passed.push(step);
      return kinds.includes(step.kind);
    });
  const max = limit === 0 ? Number.POSITIVE_INFINITY : limit;
  const query = await queryOf(workspace, options, io.cwd);
  const isFiltered = !isEmptyQuery(query);
  const { turns, read, more } = isFiltered
    ? turnsWhere(found, max, ({ steps }) => matchesTurn(query, steps))
    : newestTurns(found, max);
  const patches = options.patch
    ? await withProgress(io, "Comparing", () => patchesOf(workspace, turns, query.changes ?? (() => true)))
    : new Map<string, string>();
  if (options.json) {
    const shown = new Set(turns.flatMap(({ steps }) => steps));
    const patchOf = (id: string) => (patches.has(id) ? { patch: patches.get(id) } : {});
    io.json({
      steps: read.filter((step) => shown.has(step)).map((step) => ({ ...stepJson(step), ...patchOf(step.id) })),
    });
    return;
  }
  if (turns.length === 0) {
    io.say(isFiltered ? "No turn matches." : "Nothing is recorded here yet. Start an agent and give it a task.");
    return;
  }
  const { paint, columns } = io.out;
  const fates = readTurnStatuses(workspace, passed);
  const runs = new Set(flatten(walkLogs(logsDirectory(io.cwd, io.environment))).map(({ name }) => name));
  const view = {
    paint,
    columns,
    now: now(),
    steps: options.steps,
    fates,
    verdictOf: readCheckResults(workspace).of,
    isRun: (session: string) => runs.has(nameOf(session)),
    patchOf: ({ id }: { id: string }) => linesOf(patches.get(id), paint),
  };
  const lines = io.accessible ? accessibleTimeline(turns, view) : timeline(turns, view);
  await page(io, lines.join("\n"));
  if (more) io.say(io.err.paint("dim", "Older turns not shown; use --limit 0 for all."));
}

function linesOf(patch: string | undefined, paint: Paint): string[] {
  return patch === undefined ? [] : colorDiff(patch.trimEnd(), paint).split("\n");
}
