/** `log`: the timeline, newest first; or the commits with what is behind them. */
import { now } from "../../base/clock.ts";
import { stampsOf } from "../../restore/check/stamps.ts";
import { fatesOf } from "../../restore/fates.ts";
import { flatten, logsDirectory, nameOf, walkLogs } from "../../run/layout.ts";
import { requireSessionId, stepsOf } from "../../steps/list.ts";
import { commitLog } from "../commit-log.ts";
import { lookIntoHistory } from "../history.ts";
import type { Io } from "../io.ts";
import { page } from "../pager.ts";
import { spokenTimeline } from "../render/spoken.ts";
import { stepJson } from "../render/step-json.ts";
import { timeline } from "../render/timeline.ts";
import { newestTurns } from "../render/turns.ts";
import { lookIntoWorkspace } from "../workspace.ts";

const DEFAULT_TURNS = 20;

interface Options {
  limit?: number;
  session?: string;
  all?: boolean;
  steps?: boolean;
  commits?: boolean;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<undefined> {
  if (options.commits) {
    const { limit = DEFAULT_TURNS, all = false, json = false } = options;
    await commitLog(await lookIntoHistory(io), { limit, all, json }, io);
    return;
  }
  const workspace = await lookIntoWorkspace(io);
  const session = options.session === undefined ? undefined : requireSessionId(workspace, options.session);
  const limit = options.limit ?? (options.json ? 0 : DEFAULT_TURNS);
  const found = stepsOf(workspace, { session, all: options.all });
  const { turns, read, more } = newestTurns(found, limit === 0 ? Number.POSITIVE_INFINITY : limit);
  if (options.json) {
    io.json({ steps: read.map(stepJson) });
    return;
  }
  if (turns.length === 0) {
    io.say("Nothing is recorded here yet. Start an agent and give it something to do.");
    return;
  }
  const { paint, columns } = io.out;
  const fates = fatesOf(workspace, read);
  const runs = new Set(flatten(walkLogs(logsDirectory(io.cwd, io.environment))).map(({ name }) => name));
  const view = {
    paint,
    columns,
    now: now(),
    steps: options.steps,
    fates,
    verdictOf: stampsOf(workspace).of,
    isRun: (session: string) => runs.has(nameOf(session)),
  };
  const lines = io.accessible ? spokenTimeline(turns, view) : timeline(turns, view);
  await page(io, lines.join("\n"));
  if (more) io.say(io.err.paint("dim", "There are older ones; --limit 0 shows them all."));
}
