/** `undo`: takes turns out of the files and keeps what came later. */
import { UserError } from "../../base/errors.ts";
import type { Workspace } from "../../git/workspace.ts";
import { applyUndo, planUndo } from "../../restore/undo.ts";
import { requireSessionId } from "../../steps/list.ts";
import type { Io } from "../io.ts";
import { TO_UNDO } from "../picker/purpose.ts";
import { withProgress } from "../progress.ts";
import { carryOut } from "../restoring.ts";
import { openWorkspace } from "../workspace.ts";

interface Options {
  turns?: string[];
  session?: string;
  conflicts?: "refuse" | "markers";
  tellAgent?: boolean;
  reason?: string;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const { conflicts, reason } = options;
  const session = options.session === undefined ? undefined : requireSessionId(workspace, options.session.trim());
  const turns = await turnsOf(workspace, options, session, io);
  const tellAgent = options.tellAgent === true || reason !== undefined;
  const chosen = { markers: conflicts === "markers", session, tellAgent, reason };
  const plan = await withProgress(io, "Looking at what has changed", () => planUndo(workspace, turns, chosen));
  return carryOut(io, plan, options, () => applyUndo(workspace, plan));
}

async function turnsOf(
  workspace: Workspace,
  { turns = [] }: Options,
  session: string | undefined,
  io: Io,
): Promise<string[]> {
  if (turns.length > 0) return turns;
  if (!io.interactive) {
    throw new UserError(
      "usage",
      "No turn was given, and there is no terminal to pick one on.",
      "Name a step from `backtrail log`, `last`, or how many turns back it is: backtrail undo last --yes",
    );
  }
  const { pickStep } = await import("../picker/pick.ts");
  return [(await pickStep(workspace, io, TO_UNDO, session)).id];
}
