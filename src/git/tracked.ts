/** Whether git tracks a file: what can run a command counts only from files that it does not. */
import { gitExitCode } from "./run.ts";
import type { Workspace } from "./workspace.ts";

/** Anything but a plain "no" counts as tracked. */
export function isTracked(workspace: Workspace, file: string): boolean {
  if (workspace.kind === "private") return false;
  return gitExitCode(["ls-files", "--error-unmatch", "-z", "--", `:(literal)${file}`], workspace.root) !== 1;
}
