/** Reports what the Entire CLI has here: it records side by side with Backtrail. */
import { type EntireTraces, findEntire } from "../../../checkpoints/entire/traces.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { type Finding, ok } from "../finding.ts";

export async function checkEntire(workspace: Workspace): Promise<Finding[]> {
  const traces = await findEntire(workspace);
  return hasTraces(traces) ? [ok("entire", { kind: "entire", ...traces })] : [];
}

export function hasTraces({ hooks, checkpoints, left }: EntireTraces): boolean {
  return hooks.length > 0 || left.length > 0 || checkpoints > 0;
}
