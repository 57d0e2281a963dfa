/**
 * Making a fork: a record first, then the work tree, its files, its hooks, its conversation. Every part can be repeated,
 * so a fork whose process was killed is finished by the next command, or taken away where it had hardly begun.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault.ts";
import { newStepId } from "../../base/ids.ts";
import { logError } from "../../base/log.ts";
import { shownPath } from "../../base/text.ts";
import { gitLocation } from "../../git/location.ts";
import { tryGit } from "../../git/run.ts";
import { releaseUserIndex } from "../../git/user-index.ts";
import type { Workspace } from "../../git/workspace.ts";
import { connectWorktree, type HookNote } from "../../lifecycle/connect-worktree.ts";
import { type ForkMaking, type ForkRecord, writeForkRecord } from "../../steps/forks.ts";
import { findStep } from "../../steps/list.ts";
import { finishRestores } from "../finish.ts";
import { isEmptyPlan, type NotUndone, type Place } from "../model.ts";
import { applyRestore, planRestore } from "../rewind.ts";
import { stateOf } from "../state.ts";
import { makeBranch } from "./branch.ts";
import { continueIn, removeStaged } from "./chat.ts";
import { workspaceOf } from "./find.ts";
import { addFolder } from "./folder.ts";
import { ignoredOnlyIn } from "./ignored.ts";
import { lockForks } from "./lock.ts";
import { choosePlace, type PlaceOptions } from "./place.ts";
import { removeFork } from "./removal.ts";
import { addWorktree } from "./worktree.ts";

const SHOWN_IGNORED = 5;

export interface MakeOptions extends PlaceOptions {
  executable: string;
  handOver?: ForkMaking["handOver"];
}

export interface MadeFork {
  record: ForkRecord;
  /** What is not in it, and why. */
  missing: NotUndone[];
  notes: string[];
}

export async function makeFork(workspace: Workspace, target: Place, options: MakeOptions): Promise<MadeFork> {
  const lock = await lockForks(workspace);
  try {
    const record = await draft(workspace, target, options);
    writeForkRecord(workspace, record);
    faultPoint("fork:record");
    try {
      return await bringAbout(workspace, record);
    } catch (error) {
      // Nobody has been told of it. If it can't be removed, the next command tries again.
      await removeFork(workspace, record, record.commit).catch((left) => logError("clearing a fork away", left));
      throw error;
    }
  } finally {
    lock.release();
  }
}

async function draft(workspace: Workspace, target: Place, options: MakeOptions): Promise<ForkRecord> {
  const step = target.kind === "step" ? target.step : null;
  const title =
    options.branch ?? step?.name ?? step?.prompt ?? (target.kind === "commit" ? target.commit.slice(0, 8) : "");
  const place = await choosePlace(workspace, title, options);
  const { work, raw } = stateOf(target);
  return {
    v: 1,
    id: newStepId(),
    name: place.name,
    kind: place.directory === null ? "branch" : workspace.kind === "private" ? "directory" : "worktree",
    state: "making",
    time: now().toISOString(),
    from: { step: step?.id ?? null, worktree: workspace.worktree, root: workspace.root, prompt: step?.prompt ?? null },
    base: { work, raw },
    commit: await commitOf(workspace, target),
    branch: place.branch,
    directory: place.directory,
    worktree: null,
    chat: null,
    making: { executable: options.executable, handOver: options.handOver ?? null, chatRoot: null },
  };
}

/** The step's commit; where that is gone, by a rebase and a long time, the present one. */
async function commitOf(workspace: Workspace, target: Place): Promise<string | null> {
  if (workspace.kind === "private") return null;
  const { head } = stateOf(target);
  if (head === null) return null;
  const { args, cwd } = gitLocation(workspace);
  for (const commit of [head, "HEAD"]) {
    const found = await tryGit([...args, "rev-parse", "--verify", "--quiet", `${commit}^{commit}`], { cwd });
    const exists =
      found.code === 0 && (await tryGit([...args, "cat-file", "-e", `${commit}^{commit}`], { cwd })).code === 0;
    if (exists) return found.stdout.toString("latin1").trim();
  }
  return null;
}

/** Whatever is left to do; nothing of it twice. */
export async function bringAbout(workspace: Workspace, record: ForkRecord): Promise<MadeFork> {
  const { making } = record;
  if (!making) return { record, missing: [], notes: [] };
  const notes: string[] = [];
  let missing: NotUndone[] = [];
  let hooks: HookNote[] = [];
  const target = targetOf(workspace, record);
  if (record.kind === "branch") await makeBranch(workspace, record, target);
  else {
    const fork = await placed(workspace, record);
    record.worktree = fork.worktree;
    writeForkRecord(workspace, record);
    faultPoint("fork:worktree");
    missing = await putFiles(fork, target);
    faultPoint("fork:files");
    hooks = await connectWorktree(fork, record.from.root, making.executable);
    faultPoint("fork:hooks");
    notes.push(...(await ignoredLeft(workspace, record, fork)));
  }
  notes.push(...(await continueIn(workspace, workspaceOf(workspace, record) ?? workspace, record, target)));
  if (record.kind === "worktree" && existsSync(join(record.directory ?? "", ".gitmodules"))) {
    notes.push("Submodules are not in it: `git submodule update --init` there fetches them.");
  }
  const agent = record.chat?.agent;
  notes.push(...hooks.filter((note) => agent === undefined || note.agent === agent).map(({ text }) => text));
  record.state = "ready";
  record.making = null;
  writeForkRecord(workspace, record);
  faultPoint("fork:ready");
  removeStaged(workspace, record);
  return { record, missing, notes };
}

/** What the user may miss there first: installed packages, files with secrets. */
async function ignoredLeft(workspace: Workspace, record: ForkRecord, fork: Workspace): Promise<string[]> {
  // Another work tree's, or those of a folder that moved, are not at hand.
  if (workspace.root !== record.from.root) return [];
  const left = await ignoredOnlyIn(workspace, fork.root);
  if (left.length === 0) return [];
  const shown = left.slice(0, SHOWN_IGNORED).map((path) => shownPath(path));
  const more = left.length > SHOWN_IGNORED ? ` and ${left.length - SHOWN_IGNORED} more` : "";
  return [`What git ignores is not in it: ${shown.join(", ")}${more}.`];
}

async function placed(workspace: Workspace, record: ForkRecord): Promise<Workspace> {
  if (!workspaceOf(workspace, record)) {
    if (record.kind === "worktree") await addWorktree(workspace, record);
    else addFolder(workspace, record);
  }
  const fork = workspaceOf(workspace, record);
  if (fork) return fork;
  throw new UserError("failed", `The fork in ${shownPath(record.directory ?? "")} is not there after it was made.`);
}

async function putFiles(fork: Workspace, target: Place): Promise<NotUndone[]> {
  releaseUserIndex(fork);
  await finishRestores(fork);
  const options = { codeOnly: true, everything: true };
  const plan = await planRestore(fork, { kind: "fork", target, options, takesBack: null, merge: null, chat: null });
  if (!isEmptyPlan(plan)) await applyRestore(fork, plan);
  return plan.notUndone;
}

function targetOf(workspace: Workspace, record: ForkRecord): Place {
  if (record.from.step === null) return { kind: "commit", commit: record.commit ?? "", tree: record.base.work };
  const step = findStep(workspace, record.from.step);
  if (step) return { kind: "step", step };
  throw new UserError("not-found", `Step ${record.from.step}, which the fork was made from, is gone.`);
}
