/** Creates a fork that is only a branch: commits the step's files if they differ from their base commit. */

import { oneLine, shorten } from "../../base/text.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import { createBranch } from "../../git/worktrees/owned.ts";
import type { ForkRecord } from "../../steps/forks.ts";
import type { StateTarget } from "../types.ts";
import { ForkError } from "./problems.ts";
import { branchTip, ownerOf } from "./worktree.ts";

const SUBJECT_LENGTH = 60;

export async function makeBranch(workspace: Workspace, record: ForkRecord, target: StateTarget): Promise<void> {
  const { branch, commit } = record;
  if (branch === null || (await branchTip(workspace, branch)) !== null) return;
  const held = commit === null ? null : await gitIn(workspace).text(["rev-parse", `${commit}^{tree}`]);
  const tip = commit !== null && held === record.base.work ? commit : await commitFiles(workspace, record, target);
  const refused = await createBranch(workspace, branch, tip, ownerOf(record));
  if (refused !== null) throw new ForkError("failed", { kind: "branch-not-made", reason: refused });
}

async function commitFiles(workspace: Workspace, record: ForkRecord, target: StateTarget): Promise<string> {
  const prompt = target.kind === "step" ? target.step.prompt : null;
  const subject = prompt === null ? "Fork" : `Fork: ${shorten(oneLine(prompt), SUBJECT_LENGTH)}`;
  const parents = record.commit === null ? [] : ["-p", record.commit];
  const message = `${subject}\n\nThe files at step ${record.from.step ?? record.commit}.\n`;
  return gitIn(workspace).text(["commit-tree", record.base.work, ...parents, "-F", "-"], { input: message });
}
