/** `rewind`: back to a step, code and conversation together. */
import { UserError } from "../../base/errors.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Target } from "../../restore/model.ts";
import { applyRewind, planRewind } from "../../restore/rewind.ts";
import { resolveTarget } from "../../restore/target.ts";
import type { Io } from "../io.ts";
import { TO_REWIND } from "../picker/purpose.ts";
import { withProgress } from "../progress.ts";
import { carryOut } from "../restoring.ts";
import { openWorkspace } from "../workspace.ts";

interface Options {
  target?: string;
  codeOnly?: boolean;
  chatOnly?: boolean;
  paths?: string[];
  resetHead?: boolean;
  tellAgent?: boolean;
  reason?: string;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const target = await targetOf(workspace, options, io);
  const { codeOnly, chatOnly, paths, resetHead, reason } = options;
  const tellAgent = options.tellAgent === true || reason !== undefined;
  const chosen = { codeOnly, chatOnly, paths, resetHead, tellAgent, reason };
  const plan = await withProgress(io, "Looking at what has changed", () => planRewind(workspace, target, chosen));
  return carryOut(io, plan, options, () => applyRewind(workspace, plan));
}

async function targetOf(workspace: Workspace, options: Options, io: Io): Promise<Target> {
  if (options.target !== undefined) return resolveTarget(workspace, options.target);
  if (!io.interactive) {
    throw new UserError(
      "usage",
      "No target was given, and there is no terminal to pick one on.",
      "Name a step from `backtrail log`, `prev`, or a number of turns: backtrail rewind 1 --yes",
    );
  }
  const { pickStep } = await import("../picker/pick.ts");
  return { kind: "step", step: await pickStep(workspace, io, TO_REWIND) };
}
