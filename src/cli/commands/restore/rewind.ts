/** `rewind`: restores code and conversation to a step. */

import { UserError } from "../../../base/errors.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { sessionOfShell } from "../../../recording/session/store.ts";
import { applyRewind, planRewind } from "../../../restore/rewind.ts";
import { resolveTarget } from "../../../restore/targets/resolve.ts";
import type { RestorePlan, Target } from "../../../restore/types.ts";
import { patternsFromRoot } from "../../arguments/patterns.ts";
import { TO_REWIND } from "../../picker/purpose.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { confirmAndApply } from "../../shared/confirm-and-apply.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { rewindCommand } from "./commands.ts";

type Options = OptionsOf<typeof rewindCommand>;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  refuseConflictsAlone(options);
  const workspace = await openWorkspace(io);
  const target = await targetOf(workspace, options, io);
  const { codeOnly, chatOnly, resetHead, keepMine, reason } = options;
  const paths = patternsFromRoot(workspace, io.cwd, options.paths);
  const tellAgent = options.tellAgent === true || reason !== undefined;
  const markers = options.conflicts === "markers";
  const chosen = { codeOnly, chatOnly, paths, resetHead, keepMine, markers, tellAgent, reason };
  const restore = {
    plan: () => withProgress(io, "Reading changes", () => planRewind(workspace, target, chosen)),
    apply: (plan: RestorePlan, agreed?: RestorePlan) => applyRewind(workspace, plan, agreed),
  };
  return confirmAndApply(io, restore, options);
}

function refuseConflictsAlone({ conflicts, keepMine }: Options): void {
  if (conflicts === undefined || keepMine) return;
  throw new UserError(
    "usage",
    "--conflicts has no effect without --keep-mine: a plain rewind has no conflicts.",
    "Give --keep-mine as well, or leave --conflicts out.",
  );
}

async function targetOf(workspace: Workspace, options: Options, io: Io): Promise<Target> {
  const session = sessionOfShell(workspace)?.id;
  if (options.target !== undefined) return resolveTarget(workspace, options.target, session);
  if (!io.interactive) {
    throw new UserError(
      "usage",
      "No target was given, and there is no terminal to choose on.",
      "Give a step from `backtrail log`, `prev`, or a number of turns back: backtrail rewind 1 --yes",
    );
  }
  const { pickStep } = await import("../../picker/pick.ts");
  return { kind: "step", step: await pickStep(workspace, io, TO_REWIND, session) };
}
