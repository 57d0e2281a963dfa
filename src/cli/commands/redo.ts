/** `redo`: takes the last rewind back. */
import { applyRedo, planRedo } from "../../restore/redo.ts";
import type { Io } from "../io.ts";
import { withProgress } from "../progress.ts";
import { carryOut } from "../restoring.ts";
import { openWorkspace } from "../workspace.ts";

interface Options {
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const plan = await withProgress(io, "Looking at what has changed", () => planRedo(workspace));
  return carryOut(io, plan, options, () => applyRedo(workspace, plan));
}
