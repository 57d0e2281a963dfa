/** Creates a separate worktree for a run. It starts at the current commit and leaves the user's files untouched. */

import { gitIn } from "../git/git.ts";
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import { freePlace, type WorktreePlace } from "../git/worktrees/create.ts";
import { addRunWorktree } from "../git/worktrees/runs.ts";
import { connectWorktree, type HookNote } from "../setup/connect-worktree.ts";
import { RunError } from "./problems.ts";

export interface RunWorktree extends WorktreePlace {
  notes: HookNote[];
  /** The number of uncommitted files, which the worktree does not contain. */
  leftOut: number;
}

/** `executable` is the program that hooks in the worktree call. */
export async function makeRunWorktree(
  workspace: Workspace | undefined,
  prompt: string,
  executable: string,
): Promise<RunWorktree> {
  if (workspace?.kind !== "repository") {
    throw new RunError("usage", { kind: "worktree-without-git" });
  }
  const commit = await gitIn(workspace).resolve("HEAD^{commit}");
  if (commit === null) throw new RunError("usage", { kind: "worktree-without-commit" });
  const { place, said } = await placed(workspace, prompt, commit);
  if (said !== null) {
    throw new RunError("failed", { kind: "worktree-not-made", directory: place.directory, reason: said });
  }
  const made = findWorkspace(place.directory);
  const records = made !== undefined && made.commonDir === workspace.commonDir && isEnabled(workspace);
  return {
    ...place,
    notes: records ? await connectWorktree(made, workspace.root, executable) : [],
    leftOut: await changedFiles(workspace),
  };
}

/** Retries if another run takes the name in the meantime. */
async function placed(workspace: Workspace, prompt: string, commit: string) {
  for (let attempt = 0; ; attempt++) {
    const place = freePlace(workspace, "run", prompt);
    const said = await addRunWorktree(workspace, place, commit);
    if (said === null || attempt === 5 || !said.includes("already")) return { place, said };
  }
}

async function changedFiles(workspace: Workspace): Promise<number> {
  const status = await gitIn(workspace).try(["--no-optional-locks", "status", "--porcelain", "-z", "--no-renames"]);
  return status.stdout.toString("latin1").split("\0").length - 1;
}
