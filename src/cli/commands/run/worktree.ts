/** `run --worktree`: performs the run in a separate worktree, away from the user's files. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { isInside } from "../../../base/paths.ts";
import { plural, printable, shownPath } from "../../../base/text.ts";
import { findWorkspace } from "../../../git/workspace.ts";
import { noteRunSession } from "../../../git/worktrees/runs.ts";
import type { RunRequest } from "../../../run/headless.ts";
import { makeRunWorktree, type RunWorktree } from "../../../run/worktree.ts";
import { ownExecutable } from "../../shared/executable.ts";
import type { Io } from "../../terminal/io.ts";

export async function inWorktree(request: RunRequest, io: Io): Promise<RunRequest> {
  const workspace = findWorkspace(io.cwd);
  const made = await makeRunWorktree(workspace, request.prompt, ownExecutable());
  sayWorktree(made, request, io);
  // Start in the same subdirectory.
  const below = join(made.directory, relative(workspace?.root ?? request.cwd, request.cwd));
  return {
    ...request,
    cwd: isInside(made.directory, below) && existsSync(below) ? below : made.directory,
    onIdentified: (id) => workspace && noteRunSession(workspace, made.directory, id),
  };
}

/** Reports the worktree's path and what the worktree does not contain. */
function sayWorktree({ directory, branch, leftOut, notes }: RunWorktree, { runner }: RunRequest, io: Io): void {
  const note = (text: string) => io.err.offer?.(`${io.err.paint("cyan", "note:")} ${printable(text)}\n`);
  note(`The run is in ${shownPath(directory)}, on the branch ${branch}.`);
  if (leftOut > 0)
    note(`${plural(leftOut, "file")} with uncommitted changes ${leftOut === 1 ? "is" : "are"} not there.`);
  for (const { agent, text } of notes) if (agent === runner.profile.id) note(text);
}
