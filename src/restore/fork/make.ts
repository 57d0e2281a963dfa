/**
 * Creates a fork: record, work tree, files, hooks, conversation, in this order. Every part is repeatable, so the next
 * command completes a fork whose process was killed, or removes it if little was done.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { newStepId } from "../../base/ids.ts";
import { logError } from "../../base/log.ts";
import { gitIn } from "../../git/git.ts";
import { releaseUserIndex } from "../../git/index/user-index.ts";
import type { Workspace } from "../../git/workspace.ts";
import { connectWorktree, type HookNote } from "../../setup/connect-worktree.ts";
import { diffTrees } from "../../steps/diff.ts";
import { type ForkMaking, type ForkRecord, listForks, writeForkRecord } from "../../steps/forks.ts";
import { stepsIn } from "../../steps/log.ts";
import { resumeInterruptedRestores } from "../apply/resume-interrupted.ts";
import type { ForkNote } from "../notes.ts";
import { appendReversedDrop } from "../operations/records.ts";
import type { PathsToBring } from "../owned/bring.ts";
import { bringToFork, requireIgnoredPaths } from "../owned/brought.ts";
import { ignoredFiles } from "../owned/ignored.ts";
import { stateOf } from "../plan/state.ts";
import { applyRestore, planRestore } from "../rewind.ts";
import type { SideEffect } from "../side-effects/model.ts";
import { isEmptyPlan, type StateTarget } from "../types.ts";
import { makeBranch } from "./branch.ts";
import { continueIn, removeStaged } from "./conversation.ts";
import { removeUnfinishedFork } from "./drop/clear.ts";
import { workspaceOf } from "./find.ts";
import { addFolder } from "./folder.ts";
import { lockForks } from "./lock.ts";
import { choosePlace, type PlaceOptions } from "./place.ts";
import { ForkError } from "./problems.ts";
import { addWorktree } from "./worktree.ts";

export interface MakeOptions extends PlaceOptions {
  executable: string;
  handOver?: ForkMaking["handOver"];
  /** Set to recreate a dropped fork: its name, commits and base. */
  dropped?: {
    record: ForkRecord;
    tip: string | null;
    chat: ForkRecord["chat"];
    takesBack: NonNullable<ForkMaking["takesBack"]>;
  };
  /** Ignored paths to link or copy into the fork. */
  bring?: PathsToBring;
}

export interface MadeFork {
  record: ForkRecord;
  /** What the fork lacks, and why. */
  missing: SideEffect[];
  notes: ForkNote[];
}

export async function makeFork(workspace: Workspace, target: StateTarget, options: MakeOptions): Promise<MadeFork> {
  const lock = await lockForks(workspace);
  try {
    if (options.bring) await requireIgnoredPaths(workspace, options.bring);
    const record = await draft(workspace, target, options);
    writeForkRecord(workspace, record);
    faultPoint("fork:record");
    try {
      return await completeFork(workspace, record);
    } catch (error) {
      // The user has not seen the fork yet. If it can't be removed, the next command tries again.
      const left = await removeUnfinishedFork(workspace, record).catch((failed) => {
        logError("clearing a fork away", failed);
        return null;
      });
      if (!left || !(error instanceof UserError)) throw error;
      const { kind, message: reason, hint } = error;
      throw new ForkError(kind, { kind: "fork-left-files", reason, hint, left });
    }
  } finally {
    lock.release();
  }
}

async function draft(workspace: Workspace, target: StateTarget, options: MakeOptions): Promise<ForkRecord> {
  const step = target.kind === "step" ? target.step : null;
  const title =
    options.branch ?? step?.name ?? step?.prompt ?? (target.kind === "commit" ? target.commit.slice(0, 8) : "");
  const place = await choosePlace(workspace, title, options);
  const { dropped } = options;
  const { work, raw, shared } = stateOf(target);
  // A branch is visible to everyone with the repository, so it omits files that only the user may read.
  const base = place.directory === null && shared ? shared : { work, raw };
  return {
    v: 1,
    id: newStepId(),
    name: place.name,
    kind: place.directory === null ? "branch" : workspace.kind === "private" ? "directory" : "worktree",
    state: "making",
    time: now().toISOString(),
    from: { step: step?.id ?? null, worktree: workspace.worktree, root: workspace.root, prompt: step?.prompt ?? null },
    base,
    commit: await commitOf(workspace, target),
    branch: place.branch,
    directory: place.directory,
    worktree: null,
    chat: null,
    making: {
      executable: options.executable,
      handOver: options.handOver ?? null,
      chatRoot: null,
      ...(dropped && step ? { files: step.id } : {}),
      ...(dropped ? { takesBack: dropped.takesBack } : {}),
    },
    ...(options.bring && { bring: options.bring }),
    marked: true,
    ...(dropped ? asBefore(workspace, dropped) : {}),
  };
}

/** The kept parts of a recreated fork; its files are those of its last state. */
function asBefore(
  workspace: Workspace,
  { record, tip, chat }: NonNullable<MakeOptions["dropped"]>,
): Partial<ForkRecord> {
  const isFree = !listForks(workspace).some(({ name }) => name === record.name);
  return {
    ...(isFree ? { name: record.name } : {}),
    from: record.from,
    base: record.base,
    ...(tip === null ? {} : { commit: tip }),
    chat,
  };
}

/** The step's commit, or the current one if that no longer exists, for example after a rebase. */
async function commitOf(workspace: Workspace, target: StateTarget): Promise<string | null> {
  if (workspace.kind === "private") return null;
  const { head } = stateOf(target);
  if (head === null) return null;
  const git = gitIn(workspace);
  for (const commit of [head, "HEAD"]) {
    const found = await git.resolve(`${commit}^{commit}`);
    if (found !== null && (await git.try(["cat-file", "-e", `${commit}^{commit}`])).code === 0) return found;
  }
  return null;
}

/** Does everything that is left to do, and nothing twice. */
export async function completeFork(workspace: Workspace, record: ForkRecord): Promise<MadeFork> {
  const { making } = record;
  if (!making) return { record, missing: [], notes: [] };
  const notes: ForkNote[] = [];
  let missing: SideEffect[] = [];
  let hooks: HookNote[] = [];
  const target = targetOf(workspace, record);
  if (record.kind === "branch") {
    await makeBranch(workspace, record, target);
    notes.push(...(await privateLeft(workspace, target)));
  } else {
    const fork = await placed(workspace, record);
    record.worktree = fork.worktree;
    writeForkRecord(workspace, record);
    faultPoint("fork:worktree");
    if (!making.filled) missing = await writeFiles(fork, target);
    // Do not write the files again after a kill: they may have been edited.
    making.filled = true;
    writeForkRecord(workspace, record);
    faultPoint("fork:files");
    await bringToFork(workspace, fork, record);
    faultPoint("fork:brought");
    hooks = await connectWorktree(fork, record.from.root, making.executable);
    faultPoint("fork:hooks");
    notes.push(...(await ignoredLeft(workspace, record, fork)));
  }
  notes.push(...(await continueIn(workspace, workspaceOf(workspace, record) ?? workspace, record, target)));
  if (record.kind === "worktree" && existsSync(join(record.directory ?? "", ".gitmodules"))) {
    notes.push({ kind: "submodules-missing" });
  }
  const agent = record.chat?.agent;
  notes.push(
    ...hooks
      .filter((note) => agent === undefined || note.agent === agent)
      .map(({ text }) => ({ kind: "hooks" as const, text })),
  );
  // Before the record loses it: after a kill, the drop must not be listed as still in effect.
  if (making.takesBack) appendReversedDrop(workspace, record.name, making.takesBack);
  faultPoint("fork:reversed");
  record.state = "ready";
  record.making = null;
  writeForkRecord(workspace, record);
  faultPoint("fork:ready");
  removeStaged(workspace, record);
  return { record, missing, notes };
}

/** Files of the step that only the user may read, and that are not committed without consent. */
async function privateLeft(workspace: Workspace, target: StateTarget): Promise<ForkNote[]> {
  const { work, shared } = stateOf(target);
  if (!shared) return [];
  const left = (await diffTrees(workspace, shared.work, work)).map(({ path }) => path);
  return [{ kind: "private-files-missing", paths: left }];
}

/** Ignored files that the user is likely to miss: installed packages, files with secrets. */
async function ignoredLeft(workspace: Workspace, record: ForkRecord, fork: Workspace): Promise<ForkNote[]> {
  // The ignored files of another work tree, or of a moved folder, are not available.
  if (workspace.root !== record.from.root) return [];
  const brought = new Set([...(record.bring?.link ?? []), ...(record.bring?.copy ?? [])]);
  const left = (await ignoredFiles(workspace, fork.root)).own.filter((path) => !brought.has(path.replace(/\/$/, "")));
  if (left.length === 0) return [];
  return [{ kind: "ignored-files-missing", paths: left }];
}

async function placed(workspace: Workspace, record: ForkRecord): Promise<Workspace> {
  if (!workspaceOf(workspace, record)) {
    if (record.kind === "worktree") await addWorktree(workspace, record);
    else addFolder(workspace, record);
  }
  const fork = workspaceOf(workspace, record);
  if (fork) return fork;
  throw new ForkError("failed", { kind: "fork-vanished", directory: record.directory ?? "" });
}

async function writeFiles(fork: Workspace, target: StateTarget): Promise<SideEffect[]> {
  releaseUserIndex(fork);
  await resumeInterruptedRestores(fork);
  const options = { codeOnly: true, everything: true };
  const plan = await planRestore(fork, { kind: "fork", target, options, takesBack: null, merge: null, chat: null });
  if (!isEmptyPlan(plan)) await applyRestore(fork, plan);
  return plan.notUndone;
}

function targetOf(workspace: Workspace, record: ForkRecord): StateTarget {
  const id = record.making?.files ?? record.from.step;
  if (id === null) return { kind: "commit", commit: record.commit ?? "", tree: record.base.work };
  const step = stepsIn(workspace).byId(id);
  if (step) return { kind: "step", step };
  throw new ForkError("not-found", { kind: "fork-source-gone", step: id });
}
