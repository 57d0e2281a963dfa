/** `fork take`: brings the work of a fork into this work tree. */
import { findFork } from "../../../restore/fork/find.ts";
import { applyTake, planTake } from "../../../restore/fork/take.ts";
import type { Io } from "../../io.ts";
import { withProgress } from "../../progress.ts";
import { carryOut } from "../../restoring.ts";
import { openWorkspace } from "../../workspace.ts";

interface Options {
  fork: string;
  conflicts?: "refuse" | "markers";
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const record = findFork(workspace, options.fork, "exact");
  const how = { markers: options.conflicts === "markers" };
  const plan = await withProgress(io, "Looking at both", () => planTake(workspace, record, how));
  return carryOut(io, plan, options, () => applyTake(workspace, record, how));
}
