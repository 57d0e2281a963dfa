/**
 * Drops a fork: verifies that the directory is the fork, lists what no step can hold, saves everything else, then
 * deletes directory and branch.
 */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { faultPoint } from "../../../base/fault-point.ts";
import { gitIn } from "../../../git/git.ts";
import type { Capture, Snapshot } from "../../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { saveStandaloneStep } from "../../../recording/save.ts";
import { type ForkRecord, writeForkRecord } from "../../../steps/forks.ts";
import { stepsIn } from "../../../steps/log.ts";
import { resumeInterruptedRestores } from "../../apply/resume-interrupted.ts";
import type { ForkNote, RestoreNote } from "../../notes.ts";
import {
  type HeldCommits,
  holdCommits,
  holdIndex,
  type WorktreeCommits,
  worktreeCommits,
} from "../../owned/commits.ts";
import type { ReadFiles } from "../../owned/contents.ts";
import { type Leftovers, newRemoval } from "../../owned/removal.ts";
import type { OwnWork } from "../../owned/repositories.ts";
import { type KeptRepository, keptRepositories, nestedRepositories } from "../../owned/repositories.ts";
import { putBackRecord, refId } from "../../owned/run-forks.ts";
import type { DropRisk } from "../../owned/work.ts";
import { examine, type Work } from "../../owned/work.ts";
import { removeStaged } from "../conversation.ts";
import { workspaceOf } from "../find.ts";
import { FOLDER_MARK } from "../folder.ts";
import { lockForks } from "../lock.ts";
import { ForkError } from "../problems.ts";
import { branchTip, worktreeOf } from "../worktree.ts";
import { type ForkPresence, presenceOf } from "./presence.ts";
import { beginRemoval, completeRemoval, type ForkRemoval, indexMark, writeForkRemoval } from "./removal.ts";

export interface DropPlan {
  record: ForkRecord;
  /** The directory to delete; null if none belongs to the fork. */
  directory: string | null;
  /** What would be lost, and who is working there; needs the user's consent. */
  lost: DropRisk[];
  /** Nested repositories that contain work, and where they will be moved. */
  kept: { path: string; directory: string; why: OwnWork | null }[];
  /** True if the files differ from the fork's base, so that a step is saved. */
  changed: boolean;
  commits: WorktreeCommits;
  /** Files that git ignores changes to or considers unchanged, and that are saved with the step. */
  hidden: string[];
  /** Messages about what is left alone. */
  notes: (ForkNote | RestoreNote)[];
  /** Paths to be deleted that nothing holds. */
  unsaved: string[];
  /** File contents read for the plan, reused until files are deleted. */
  read: ReadFiles;
}

export interface Dropped {
  name: string;
  /** The step with the fork's last state; null if it was unchanged. */
  step: string | null;
  /** Hidden refs that hold the fork's commits; null if other refs do. */
  commits: string | null;
  detached: string | null;
  reflog: string | null;
  staged: string | null;
  refs: string[];
  kept: { path: string; directory: string }[];
  /** Files that appeared or changed during the drop, and stay. */
  left: Leftovers | null;
}

export async function planDrop(workspace: Workspace, record: ForkRecord): Promise<DropPlan> {
  refuseOwn(workspace, record);
  const presence = await presenceOf(workspace, record);
  // A killed restore may have moved files aside that only its completion puts back, or names.
  const finished = presence.state === "here" ? await resumeInterruptedRestores(presence.fork) : [];
  const plan = await startPlan(workspace, record, presence);
  plan.notes.push(...finished);
  if (presence.state !== "here") return plan;
  const { fork, marked } = presence;
  return examine(fork, record.from.root, marksOf(record), async (work) => ({
    ...plan,
    directory: fork.root,
    lost: [...(marked ? [] : [{ kind: "unmarked-fork" as const, directory: fork.root }]), ...work.asks],
    kept: planKept(work, fork.root),
    changed: await isChanged(fork, record, work.snapshot),
    hidden: work.hidden,
    unsaved: work.unsaved,
    read: work.read,
  }));
}

/** True if the drop needs the user's consent. */
export function mustAsk({ lost, kept }: DropPlan): boolean {
  return lost.length + kept.length > 0;
}

export async function applyDrop(workspace: Workspace, plan: DropPlan): Promise<Dropped> {
  const lock = await lockForks(workspace);
  try {
    return await drop(workspace, plan);
  } finally {
    lock.release();
  }
}

async function startPlan(workspace: Workspace, record: ForkRecord, presence: ForkPresence): Promise<DropPlan> {
  const adminDir = worktreeOf(workspace, record)?.adminDir ?? null;
  const nested = presence.state === "here" || adminDir === null ? [] : await submodulesIn(adminDir);
  return {
    record,
    directory: null,
    lost: [],
    kept: keptOf(keptRepositories(nested, record.directory ?? ""), nested),
    changed: false,
    commits: await worktreeCommits(workspace, record.branch, adminDir),
    hidden: [],
    notes: presence.state === "gone" ? [...presence.notes] : [],
    unsaved: [],
    read: new Map(),
  };
}

async function drop(workspace: Workspace, plan: DropPlan): Promise<Dropped> {
  const { record } = plan;
  // Checked again: the fork may have changed since the plan.
  const presence = await presenceOf(workspace, record);
  const adminDir = worktreeOf(workspace, record)?.adminDir ?? null;
  const tip = record.branch === null ? null : await branchTip(workspace, record.branch);
  let staged: string | null = null;
  let job: ForkRemoval;
  if (presence.state === "here") {
    const { fork } = presence;
    // Before anything is read: the step may lack changes staged from now on.
    const index = adminDir === null ? null : indexMark(adminDir);
    const use = async (work: Work, capture: Capture): Promise<ForkRemoval> => {
      refuseNew(plan, work, fork.root);
      const step = await saveLast(fork, record, work, capture);
      const whole = [...marksOf(record), ...work.unsaved];
      const removal = newRemoval(fork.root, record.id, workspace.hash, work.held, whole);
      const clean = work.repositories.flatMap(({ path, work: own }) => (path !== null && own === null ? [path] : []));
      return { v: 1, removal, kept: keptRepositories(work.repositories, fork.root), clean, tip, step, index };
    };
    job = await examine(fork, record.from.root, marksOf(record), use, plan.read);
  } else {
    const nested = adminDir === null ? [] : await submodulesIn(adminDir);
    if (adminDir !== null) staged = await holdIndex(workspace, refId(record), adminDir);
    job = { v: 1, removal: null, kept: keptRepositories(nested, record.directory ?? ""), clean: [], tip, step: null };
  }
  faultPoint("fork:saved");
  const commits = await worktreeCommits(workspace, record.branch, adminDir);
  const held = await holdCommits(workspace, refId(record), commits);
  faultPoint("fork:kept");
  writeForkRemoval(workspace, record, job);
  writeForkRecord(workspace, { ...record, state: "dropping" });
  faultPoint("fork:dropping");
  try {
    beginRemoval(workspace, record, job);
  } catch (error) {
    removeStaged(workspace, record);
    putBackRecord(workspace, record);
    throw error;
  }
  const { left, staged: late } = await completeRemoval(workspace, record, job);
  return receipt(record, job, held, staged ?? late, left);
}

function receipt(
  { name }: ForkRecord,
  { step, kept }: ForkRemoval,
  held: HeldCommits,
  staged: string | null,
  left: Leftovers | null,
): Dropped {
  const places = kept.map(({ path, gitDir, to }) => ({ path: path ?? gitDir ?? "", directory: to }));
  const { tip, head, others, refs } = held;
  return { name, step, commits: tip, detached: head, reflog: others, staged, refs, kept: places, left };
}

/** Refuses the drop if it would delete anything the user was not asked about. */
function refuseNew(plan: DropPlan, work: Work, directory: string): void {
  const known = new Set([...plan.unsaved, ...plan.kept.map(({ path }) => path)]);
  const found = [...work.unsaved, ...planKept(work, directory).map(({ path }) => path)];
  const [added] = found.filter((path) => !known.has(path));
  if (added === undefined) return;
  throw new ForkError("refused", { kind: "appeared-in-fork", path: added, fork: plan.record.name });
}

function planKept({ repositories }: Work, directory: string): DropPlan["kept"] {
  return keptOf(keptRepositories(repositories, directory), repositories);
}

function keptOf(kept: readonly KeptRepository[], nested: Work["repositories"]): DropPlan["kept"] {
  return kept.map(({ path, gitDir, to }) => ({
    path: path ?? gitDir ?? "",
    directory: to,
    why: nested.find((each) => each.path === path && each.gitDir === gitDir)?.work ?? null,
  }));
}

/** Submodule repositories of a fork whose own directory no longer exists. */
function submodulesIn(adminDir: string): Promise<Work["repositories"]> {
  return nestedRepositories("", [], join(adminDir, "modules"));
}

/** Saves the last state under a name, so that it does not expire. Saves nothing if the state is unchanged. */
async function saveLast(fork: Workspace, record: ForkRecord, work: Work, capture: Capture): Promise<string | null> {
  if (!(await isChanged(fork, record, work.snapshot))) return null;
  const what = { kind: "manual" as const, name: `${record.run ? "run" : "fork"} ${record.name}` };
  // The next snapshot must not build on this one: the step's trees contain files that git does not show.
  const saving = work.hidden.length === 0 ? capture : { ...capture, remember: () => {} };
  return (await saveStandaloneStep(fork, saving, work.snapshot, what)).step.id;
}

/** Also true if only the index differs. */
async function isChanged(
  fork: Workspace,
  { base, from }: ForkRecord,
  { work, raw, index }: Snapshot,
): Promise<boolean> {
  if (work !== base.work || raw !== base.raw) return true;
  if (fork.kind !== "repository" || index === work) return false;
  const begun = from.step === null ? undefined : stepsIn(fork).byId(from.step)?.snapshot.index;
  if (index === begun) return false;
  return index !== ((await gitIn(fork).resolve("HEAD^{tree}")) ?? "");
}

function refuseOwn(workspace: Workspace, record: ForkRecord): void {
  const fork = workspaceOf(workspace, record);
  if (fork?.root !== workspace.root) return;
  throw new ForkError("usage", { kind: "fork-is-here", fork: record.name, action: "drop" });
}

function marksOf({ kind, directory }: ForkRecord): string[] {
  const has =
    kind === "directory" && directory !== null && lstatSync(join(directory, FOLDER_MARK), { throwIfNoEntry: false });
  return has ? [FOLDER_MARK] : [];
}
