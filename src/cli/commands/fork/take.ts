/** `fork take`: brings the work of a fork into this work tree. */

import { findFork } from "../../../restore/fork/find.ts";
import { applyTake, planTake } from "../../../restore/fork/take.ts";
import type { RestorePlan } from "../../../restore/types.ts";
import { patternsFromRoot } from "../../arguments/patterns.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { confirmAndApply } from "../../shared/confirm-and-apply.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { forkTakeCommand } from "./commands.ts";

type Options = OptionsOf<typeof forkTakeCommand>;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const record = await findFork(workspace, options.fork, "exact");
  const paths = patternsFromRoot(workspace, io.cwd, options.paths);
  const how = { markers: options.conflicts === "markers", paths };
  const restore = {
    plan: () => withProgress(io, "Comparing", () => planTake(workspace, record, how)),
    apply: (_plan: RestorePlan, agreed?: RestorePlan) => applyTake(workspace, record, how, agreed),
  };
  return confirmAndApply(io, restore, options);
}
