/** `log`: the timeline, newest first; or the commits with what is behind them. */
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import type { Workspace } from "../../git/workspace.ts";
import { wayHere } from "../../restore/timeline.ts";
import { flatten, logsDirectory, nameOf, walkLogs } from "../../run/layout.ts";
import { listSteps } from "../../steps/list.ts";
import type { Step } from "../../steps/model.ts";
import { commitLog } from "../commit-log.ts";
import { lookIntoHistory } from "../history.ts";
import type { Io } from "../io.ts";
import { page } from "../pager.ts";
import { stepJson } from "../render/step-json.ts";
import { timeline } from "../render/timeline.ts";
import { type Turn, turnsOf } from "../render/turns.ts";
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
  const session = options.session === undefined ? undefined : sessionOf(workspace, options.session);
  const steps = listSteps(workspace, { session, all: options.all });
  if (options.json) {
    const chosen = options.limit ? within(turnsOf(steps), options.limit) : undefined;
    io.json({ steps: (chosen ? steps.filter((step) => chosen.has(step)) : steps).map(stepJson) });
    return;
  }
  if (steps.length === 0) {
    io.say("Nothing is recorded here yet. Start an agent and give it something to do.");
    return;
  }
  const limit = options.limit ?? DEFAULT_TURNS;
  const turns = turnsOf(steps);
  const shown = limit === 0 ? turns : turns.slice(0, limit);
  const { paint, columns } = io.out;
  const present = new Set([...wayHere(workspace)].map(({ id }) => id));
  const isTakenBack = (step: Step) =>
    step.worktree === workspace.worktree && step.kind !== "manual" && step.kind !== "safety" && !present.has(step.id);
  const runs = new Set(flatten(walkLogs(logsDirectory(io.cwd, io.environment))).map(({ name }) => name));
  const isRun = (id: string) => runs.has(nameOf(id));
  await page(io, timeline(shown, { paint, columns, now: now(), steps: options.steps, isTakenBack, isRun }).join("\n"));
  if (shown.length < turns.length) {
    io.say(io.err.paint("dim", `${turns.length - shown.length} more; --limit 0 shows them all.`));
  }
}

function within(turns: readonly Turn[], limit: number): Set<Step> {
  return new Set(turns.slice(0, limit).flatMap((turn) => turn.steps));
}

/** The whole id of the session that begins so. */
function sessionOf(workspace: Workspace, beginning: string): string {
  const ids = new Set<string>();
  for (const { session } of listSteps(workspace, { all: true })) {
    if (session === beginning) return session;
    if (session?.startsWith(beginning)) ids.add(session);
  }
  const [only, ...others] = ids;
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined)
    throw new UserError("usage", `"${beginning}" begins several sessions' ids.`, "Give a few more letters.");
  throw new UserError("not-found", `No session here begins with "${beginning}".`, "`backtrail sessions` lists them.");
}
