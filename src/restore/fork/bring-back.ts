/** Recreates a dropped fork: same directory and branch, its last files, and its original base for comparison. */

import { existsSync } from "node:fs";
import { faultPoint } from "../../base/fault-point.ts";
import { newStepId } from "../../base/ids.ts";
import { compareAndSwapRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type ForkMaking, type ForkRecord, listForks, writeForkRecord } from "../../steps/forks.ts";
import { stepsIn } from "../../steps/log.ts";
import { appendReversedDrop, type DropRecord } from "../operations/records.ts";
import { lockForks } from "./lock.ts";
import { type MadeFork, makeFork } from "./make.ts";
import { ForkError } from "./problems.ts";
import { branchTip } from "./worktree.ts";

export async function bringBackFork(
  workspace: Workspace,
  { fork: dropped, step, tip }: DropRecord,
  executable: string,
  takesBack: NonNullable<ForkMaking["takesBack"]>,
): Promise<MadeFork> {
  const origin = dropped.from.step === null ? undefined : stepsIn(workspace).byId(dropped.from.step);
  const fork = { ...dropped, from: { ...dropped.from, prompt: origin?.prompt ?? null } };
  if (fork.kind === "branch") return bringBackBranch(workspace, fork, tip, takesBack);
  const from = step ?? fork.from.step;
  const last = from === null ? undefined : stepsIn(workspace).byId(from);
  if (!last && from !== null)
    throw new ForkError("not-found", { kind: "fork-step-gone", step: from, fork: fork.name, branch: fork.branch, tip });
  const target = last
    ? { kind: "step" as const, step: last }
    : { kind: "commit" as const, commit: tip ?? fork.commit ?? "", tree: fork.base.work };
  return makeFork(workspace, target, {
    ...(fork.branch === null ? {} : { branch: fork.branch }),
    ...(fork.directory === null ? {} : { directory: fork.directory }),
    executable,
    dropped: { record: fork, tip, chat: fork.chat && existsSync(fork.chat.file) ? fork.chat : null, takesBack },
  });
}

/** Repeatable after a kill: a branch with that tip, or a record from the first attempt, is accepted. */
async function bringBackBranch(
  workspace: Workspace,
  fork: ForkRecord,
  tip: string | null,
  takesBack: NonNullable<ForkMaking["takesBack"]>,
): Promise<MadeFork> {
  const lock = await lockForks(workspace);
  try {
    const namesake = listForks(workspace).find(({ name }) => name === fork.name);
    const isFree = !namesake || (namesake.branch === fork.branch && namesake.time === fork.time);
    if (tip === null || !isFree || !(await hasBranch(workspace, fork.branch ?? "", tip)))
      throw new ForkError("refused", { kind: "branch-name-taken", branch: fork.branch ?? "", tip });
    faultPoint("fork:branch");
    const record: ForkRecord = { ...fork, id: namesake?.id ?? newStepId(), state: "ready", making: null };
    writeForkRecord(workspace, record);
    faultPoint("fork:record");
    appendReversedDrop(workspace, record.name, takesBack);
    return { record, missing: [], notes: [] };
  } finally {
    lock.release();
  }
}

/** Creates the branch unless it exists; false if it has another tip. */
async function hasBranch(workspace: Workspace, branch: string, tip: string): Promise<boolean> {
  if (await compareAndSwapRef(workspace, `refs/heads/${branch}`, null, tip)) return true;
  return (await branchTip(workspace, branch)) === tip;
}
