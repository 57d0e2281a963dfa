/** `redo`: reverts the last rewind or undo. */

import { applyRedo, planRedo } from "../../../restore/redo.ts";
import type { RestorePlan } from "../../../restore/types.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { confirmAndApply } from "../../shared/confirm-and-apply.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { redoCommand } from "./commands.ts";

type Options = OptionsOf<typeof redoCommand>;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const restore = {
    plan: () => withProgress(io, "Reading changes", () => planRedo(workspace)),
    apply: (plan: RestorePlan, agreed?: RestorePlan) => applyRedo(workspace, plan, agreed),
  };
  return confirmAndApply(io, restore, options);
}
