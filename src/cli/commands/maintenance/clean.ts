/** `clean`: deletes expired data and finished run worktrees, after showing how much space that frees. */

import { plural } from "../../../base/text.ts";
import { showSize } from "../../../config/values.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../../git/workspace.ts";
import { runWorktrees } from "../../../git/worktrees/runs.ts";
import {
  collectGarbage,
  type Expired,
  type ExpiryPlan,
  expire,
  limitsOf,
  planExpiry,
} from "../../../maintenance/expiry.ts";
import {
  type RunWorktreeStatus,
  removeRunWorktree,
  runWorktreeStatuses,
} from "../../../restore/fork/stale-worktrees.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { moment } from "../../render/layout/time.ts";
import { runWorktreeJson, runWorktreeLines } from "../../render/run-worktrees.ts";
import { settingsOf } from "../../shared/settings.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import { confirm } from "../../terminal/ask.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { cleanCommand } from "./commands.ts";

type Options = OptionsOf<typeof cleanCommand>;

/** The data to delete, and the run worktrees to delete and to keep. */
interface Plan extends ExpiryPlan {
  worktrees: RunWorktreeStatus[];
  kept: RunWorktreeStatus[];
}

const WHAT: Readonly<Record<Expired["kind"], [one: string, many: string]>> = {
  imported: ["imported session", "imported sessions"],
  conversation: ["conversation without steps", "conversations without steps"],
  "old-conversation": ["conversation beyond retention.conversations", "conversations beyond retention.conversations"],
  transcript: ["stored transcript of OpenCode", "stored transcripts of OpenCode"],
  "hand-over": ["text written for another agent", "texts written for other agents"],
  notice: ["notice for a session", "notices for sessions"],
  kept: ["set of files that a restore kept", "sets of files that restores kept"],
  commits: ["history of a dropped fork", "histories of dropped forks"],
  session: ["session without steps", "sessions without steps"],
};
const NOTHING: ExpiryPlan = {
  steps: [],
  others: [],
  sizeBefore: 0,
  sizeAfter: 0,
  conversations: { sessions: 0, bytes: 0, limit: 0 },
};

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await placeOf(io);
  const plan = await withProgress(io, "Measuring", () => planOf(workspace));
  const { steps, others, worktrees, kept, sizeBefore } = plan;
  const nothing = steps.length + others.length + worktrees.length === 0;
  if (options.json && (options.dryRun || nothing)) {
    io.json(asJson(plan, false));
    return nothing ? EXIT.nothing : undefined;
  }
  if (nothing) {
    const days = plural(settingsOf(workspace).config.retention.days, "day");
    io.printMessage(`Nothing to clean: ${showSize(sizeBefore)} used, and nothing is older than ${days}.`);
    tellConversations(plan, io);
    tellKept(kept, io);
    return EXIT.nothing;
  }
  if (!options.json) tell(plan, io);
  if (options.dryRun) return undefined;
  if (!options.yes && !(await confirm(io, "Delete them?", "--yes"))) return EXIT.nothing;
  const stayed = await withProgress(io, "Deleting", async () => {
    await expire(workspace, plan);
    if (isEnabled(workspace)) await collectGarbage(workspace);
    return removeAll(workspace, worktrees);
  });
  if (options.json) {
    io.json({
      ...asJson(plan, true),
      worktrees: worktrees.filter((each) => !stayed.includes(each)).map(runWorktreeJson),
    });
    return undefined;
  }
  const removed = worktrees.length - stayed.length;
  const gone = steps.length > 0 || removed === 0 ? [plural(steps.length, "step")] : [];
  if (removed > 0) gone.push(plural(removed, "worktree"));
  io.printMessage(`Done: ${gone.join(" and ")} gone.`);
  for (const { worktree } of stayed) io.say(`${worktree.name} stays: it was in use a moment ago.`);
  if (workspace.kind === "repository" && steps.length > 0)
    io.say("git frees the space when it next prunes unreachable objects.");
  return undefined;
}

/** Also accepts a repository that is not enabled: runs leave worktrees there too. */
async function placeOf(io: Io): Promise<Workspace> {
  const found = findWorkspace(io.cwd);
  return found && !isEnabled(found) && runWorktrees(found).length > 0 ? found : openWorkspace(io);
}

async function planOf(workspace: Workspace): Promise<Plan> {
  const { retention } = settingsOf(workspace).config;
  const past = isEnabled(workspace) ? await planExpiry(workspace, limitsOf(retention)) : NOTHING;
  const standings = await runWorktreeStatuses(workspace);
  const [worktrees, kept] = [standings.filter(({ why }) => why === null), standings.filter(({ why }) => why !== null)];
  return { ...past, worktrees, kept };
}

/** Returns the worktrees that could not be removed. */
async function removeAll(workspace: Workspace, worktrees: readonly RunWorktreeStatus[]): Promise<RunWorktreeStatus[]> {
  const stayed: RunWorktreeStatus[] = [];
  for (const each of worktrees) if (!(await removeRunWorktree(workspace, each))) stayed.push(each);
  return stayed;
}

function asJson({ steps, others, worktrees, kept, sizeBefore, sizeAfter, conversations }: Plan, deleted: boolean) {
  return {
    steps: steps.map((step) => step.id),
    others,
    worktrees: worktrees.map(runWorktreeJson),
    kept: kept.map(runWorktreeJson),
    sizeBefore,
    sizeAfter,
    conversations,
    deleted,
  };
}

function tell(plan: Plan, io: Io): void {
  const { steps, others, worktrees, kept, sizeBefore, sizeAfter } = plan;
  const [oldest, newest] = [steps[0], steps.at(-1)];
  if (oldest && newest)
    io.printMessage(
      `${plural(steps.length, "step")} to delete, from ${moment(oldest.time)} to ${moment(newest.time)}.`,
    );
  for (const [kind, some] of Map.groupBy(others, (other) => other.kind)) {
    const bytes = some.reduce((sum, other) => sum + other.bytes, 0);
    io.printMessage(`${plural(some.length, ...WHAT[kind])} to delete${bytes > 0 ? `, ${showSize(bytes)}` : ""}.`);
  }
  if (steps.length + others.length > 0)
    io.printMessage(`Steps would shrink from ${showSize(sizeBefore)} to ${showSize(sizeAfter)}. Named steps stay.`);
  tellConversations(plan, io);
  if (worktrees.length > 0) {
    io.printMessage(
      `${plural(worktrees.length, "worktree")} of runs to remove, with ${worktrees.length === 1 ? "its branch" : "their branches"}:`,
    );
    for (const line of runWorktreeLines(worktrees, io.out.paint, io.out.columns)) io.print(line);
  }
  tellKept(kept, io);
}

function tellConversations({ conversations: { sessions, bytes, limit } }: Plan, io: Io): void {
  if (sessions === 0) return;
  const stored = `${plural(sessions, "conversation")} stored: ${showSize(bytes)}`;
  const kept = ` of the ${showSize(limit)} for conversations; they are kept when their steps expire`;
  io.printMessage(`${stored}${limit > 0 ? kept : ""}.`);
}

function tellKept(kept: readonly RunWorktreeStatus[], io: Io): void {
  if (kept.length === 0) return;
  io.printMessage(`${plural(kept.length, "worktree")} of runs ${kept.length === 1 ? "stays" : "stay"}:`);
  for (const line of runWorktreeLines(kept, io.out.paint, io.out.columns)) io.print(line);
}
