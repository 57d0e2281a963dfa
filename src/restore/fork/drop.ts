/** Dropping a fork: what no step holds is named beforehand, its files are saved, then directory and branch go. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { uninstall } from "../../agents/install.ts";
import { getAgent } from "../../agents/registry.ts";
import { now } from "../../base/clock.ts";
import { messageOf, UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault.ts";
import { logError } from "../../base/log.ts";
import { oneLine, plural, shownPath } from "../../base/text.ts";
import { loadConfig } from "../../config/load.ts";
import { gitLocation } from "../../git/location.ts";
import { compareAndSwapRef, readRef } from "../../git/refs.ts";
import { tryGit } from "../../git/run.ts";
import type { Snapshot } from "../../git/snapshot.ts";
import { readStore, type Workspace } from "../../git/workspace.ts";
import { isAlive } from "../../lifecycle/dead-turns.ts";
import { captureOptions } from "../../lifecycle/dispatcher.ts";
import { saveManually } from "../../lifecycle/save.ts";
import { loadSession, marked } from "../../lifecycle/session-state.ts";
import { currentSnapshot } from "../../steps/diff.ts";
import { droppedRef, type ForkRecord, writeForkRecord } from "../../steps/forks.ts";
import { findStep } from "../../steps/list.ts";
import type { NotUndone } from "../model.ts";
import { workspaceOf } from "./find.ts";
import { ignoredOnlyIn } from "./ignored.ts";
import { lockForks } from "./lock.ts";
import { removeFork } from "./removal.ts";
import { branchTip, isOnlyOn } from "./worktree.ts";

export interface DropPlan {
  record: ForkRecord;
  /** What nobody would have any more. */
  lost: NotUndone[];
  /** Whether its files are other than those that it began with, so that a step is saved. */
  changed: boolean;
  /** The branch's last commit, where no other branch or tag has it. */
  ownTip: string | null;
  /** The commit that is checked out there, where no branch or tag at all has it. */
  ownHead: string | null;
}

export interface Dropped {
  name: string;
  /** The step with its last state; null where it was as it began. */
  step: string | null;
  /** The hidden ref that holds its commits; null where others do. */
  commits: string | null;
  /** Likewise for commits that were made there on no branch. */
  detached: string | null;
}

const SHOWN_IGNORED = 10;
const IGNORED = "git ignores it, so no step holds it";
const UNDER_WAY: readonly [string, string][] = [
  ["rebase-merge", "A rebase"],
  ["rebase-apply", "A rebase"],
  ["MERGE_HEAD", "A merge"],
  ["CHERRY_PICK_HEAD", "A cherry-pick"],
  ["BISECT_LOG", "A bisection"],
];

export async function planDrop(workspace: Workspace, record: ForkRecord): Promise<DropPlan> {
  const fork = workspaceOf(workspace, record);
  if (fork?.root === workspace.root) {
    throw new UserError("usage", `This is the fork ${record.name} itself.`, "Drop it from another work tree.");
  }
  const tip = await tipOf(workspace, record);
  const ownTip = tip !== null && (await isOnlyOn(workspace, record.branch ?? "", tip)) ? tip : null;
  if (!fork) return { record, lost: [], changed: false, ownTip, ownHead: null };
  const ownHead = await headOnNoBranch(fork);
  const snapshot = await currentSnapshot(fork, captureOptions(loadConfig(fork.root)));
  const lost = [
    ...busy(fork),
    ...(await ignoredFiles(fork, record.from.root)),
    ...snapshot.notCaptured.map(({ path }) => ({ what: shownPath(path), why: "no step holds it" })),
    ...operationsIn(fork).map((what) => ({ what, why: "it is under way there" })),
  ];
  return { record, lost, changed: await isChanged(fork, record, snapshot), ownTip, ownHead };
}

export async function applyDrop(workspace: Workspace, plan: DropPlan): Promise<Dropped> {
  const lock = await lockForks(workspace);
  try {
    return await drop(workspace, plan.record);
  } finally {
    lock.release();
  }
}

/** One that a killed process had begun to drop. Sentences for the user. */
export async function dropAgain(workspace: Workspace, record: ForkRecord): Promise<string[]> {
  const { step } = await drop(workspace, record);
  const kept = step === null ? "" : ` Its last state is step ${step}.`;
  return [`Dropped the fork ${record.name}, which had been interrupted.${kept}`];
}

async function drop(workspace: Workspace, record: ForkRecord): Promise<Dropped> {
  const fork = workspaceOf(workspace, record);
  const step = fork ? await saveLast(fork, record) : null;
  faultPoint("fork:saved");
  writeForkRecord(workspace, { ...record, state: "dropping" });
  faultPoint("fork:dropping");
  // Looked at again: somebody may have committed there since it was planned.
  const tip = await tipOf(workspace, record);
  const ownTip = tip !== null && (await isOnlyOn(workspace, record.branch ?? "", tip)) ? tip : null;
  const commits = await keep(workspace, record, ownTip, record.id);
  const detached = await keep(workspace, record, fork ? await headOnNoBranch(fork) : null, `${record.id}-head`);
  faultPoint("fork:kept");
  if (fork) await disconnect(fork);
  await removeFork(workspace, record, tip);
  return { name: record.name, step, commits, detached };
}

/** The hidden ref that holds the commit from now on; null where there is none to hold. */
async function keep(
  workspace: Workspace,
  record: ForkRecord,
  commit: string | null,
  id: string,
): Promise<string | null> {
  if (commit === null) return null;
  const ref = droppedRef(id, now());
  const before = await readRef(workspace, ref);
  if (before === commit || (await compareAndSwapRef(workspace, ref, before, commit))) return ref;
  throw new UserError("failed", `The commits of the fork ${record.name} could not be kept.`, "Try again.");
}

/** A commit that only the work tree's HEAD leads to: it would go with the directory. */
async function headOnNoBranch(fork: Workspace): Promise<string | null> {
  if (fork.kind !== "repository") return null;
  const { args, cwd } = gitLocation(fork);
  const found = await tryGit([...args, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"], { cwd });
  const head = found.code === 0 ? found.stdout.toString("latin1").trim() : null;
  return head !== null && (await isOnlyOn(fork, "", head)) ? head : null;
}

/** Under a name, so that it stays; nothing where everything is as it began, and the step behind it as it was. */
async function saveLast(fork: Workspace, record: ForkRecord): Promise<string | null> {
  const snapshot = await currentSnapshot(fork, captureOptions(loadConfig(fork.root)));
  if (!(await isChanged(fork, record, snapshot))) return null;
  return (await saveManually(fork, `fork ${record.name}`)).step.id;
}

/** Also where the files are as they began, and something else is staged. */
async function isChanged(
  fork: Workspace,
  { base, from }: ForkRecord,
  { work, raw, index }: Snapshot,
): Promise<boolean> {
  if (work !== base.work || raw !== base.raw) return true;
  if (fork.kind !== "repository" || index === work) return false;
  const begun = from.step === null ? undefined : findStep(fork, from.step)?.snapshot.index;
  if (index === begun) return false;
  const { args, cwd } = gitLocation(fork);
  const head = await tryGit([...args, "rev-parse", "--verify", "--quiet", "HEAD^{tree}"], { cwd });
  return index !== head.stdout.toString("latin1").trim();
}

/** What the store notes of hooks there; the files themselves go anyway. */
export async function disconnect(fork: Workspace): Promise<void> {
  for (const [id, { scope }] of Object.entries(readStore(fork)?.agents ?? {})) {
    const agent = await getAgent(id);
    if (scope !== "local" || !agent?.profile.hooks || agent.ownHooks) continue;
    try {
      await uninstall(agent, "local", { workspace: fork, executable: process.execPath });
    } catch (error) {
      logError("hooks of a fork", messageOf(error));
    }
  }
}

/** Operations of git's that have not come to their end. */
export function operationsIn({ kind, gitDir }: Workspace): string[] {
  if (kind !== "repository") return [];
  return UNDER_WAY.flatMap(([name, what]) => (existsSync(join(gitDir, name)) ? [what] : []));
}

export function busy(fork: Workspace): NotUndone[] {
  return marked(fork, "active").flatMap((key) => {
    const state = loadSession(fork, key);
    if (!state?.openTurn || !isAlive(state)) return [];
    return [{ what: `A turn of ${oneLine(state.agent)}`, why: "the agent is at work there" }];
  });
}

async function tipOf(workspace: Workspace, { branch }: ForkRecord): Promise<string | null> {
  return branch === null ? null : branchTip(workspace, branch);
}

/** Those that are not the same in the work tree that the fork was made from. */
async function ignoredFiles(fork: Workspace, origin: string): Promise<NotUndone[]> {
  const own = await ignoredOnlyIn(fork, origin);
  const shown = own.slice(0, SHOWN_IGNORED).map((path) => ({ what: shownPath(path), why: IGNORED }));
  const more = own.length - shown.length;
  return more > 0 ? [...shown, { what: plural(more, "more path"), why: IGNORED }] : shown;
}
