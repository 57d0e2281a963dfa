/** A run in a worktree of its own: it begins at the present commit, and nothing of it gets into the user's files. */
import { UserError } from "../base/errors.ts";
import { shownPath } from "../base/text.ts";
import { gitLocation } from "../git/location.ts";
import { tryGit } from "../git/run.ts";
import { markRunWorktree } from "../git/run-worktrees.ts";
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import { addWorktree, freePlace, type WorktreePlace } from "../git/worktrees.ts";
import { connectWorktree, type HookNote } from "../lifecycle/connect-worktree.ts";

export interface RunWorktree extends WorktreePlace {
  notes: HookNote[];
  /** Files here that are not committed, and so not there. */
  leftOut: number;
}

/** `executable` is what hooks there call. */
export async function makeRunWorktree(
  workspace: Workspace | undefined,
  prompt: string,
  executable: string,
): Promise<RunWorktree> {
  if (workspace?.kind !== "repository") {
    throw new UserError("usage", "There is no git repository here to make a worktree of.", "Leave --worktree out.");
  }
  const { args, cwd } = gitLocation(workspace);
  const head = await tryGit([...args, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"], { cwd });
  if (head.code !== 0) {
    throw new UserError("usage", "Nothing is committed here yet, so a worktree would be empty.", "Commit first.");
  }
  const commit = head.stdout.toString("latin1").trim();
  const { place, said } = await placed(workspace, prompt, commit);
  if (said !== null) {
    throw new UserError("failed", `The worktree could not be made in ${shownPath(place.directory)}: ${said}.`);
  }
  const made = findWorkspace(place.directory);
  if (made && made.root !== workspace.root) markRunWorktree(made, place.branch, commit);
  const records = made !== undefined && made.commonDir === workspace.commonDir && isEnabled(workspace);
  return {
    ...place,
    notes: records ? await connectWorktree(made, workspace.root, executable) : [],
    leftOut: await changedFiles(workspace),
  };
}

/** Another run may have taken the name since we looked. */
async function placed(workspace: Workspace, prompt: string, commit: string) {
  for (let attempt = 0; ; attempt++) {
    const place = freePlace(workspace, "run", prompt);
    const said = await addWorktree(workspace, place, commit);
    if (said === null || attempt === 5 || !said.includes("already")) return { place, said };
  }
}

async function changedFiles(workspace: Workspace): Promise<number> {
  const { args, cwd } = gitLocation(workspace);
  const status = await tryGit([...args, "--no-optional-locks", "status", "--porcelain", "-z", "--no-renames"], { cwd });
  return status.stdout.toString("latin1").split("\0").length - 1;
}
