/** `undo`: reverts turns in the files and keeps later changes. */

import { UserError } from "../../../base/errors.ts";
import { shorten } from "../../../base/text.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { sessionOfShell } from "../../../recording/session/store.ts";
import type { RestorePlan } from "../../../restore/types.ts";
import { applyUndo, changedNothing, newestWithChanges, planUndo } from "../../../restore/undo.ts";
import { stepsIn } from "../../../steps/log.ts";
import { TO_UNDO } from "../../picker/purpose.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { titleOf, turnNumber } from "../../render/timeline/timeline.ts";
import { confirmAndApply } from "../../shared/confirm-and-apply.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { undoCommand } from "./commands.ts";

type Options = OptionsOf<typeof undoCommand>;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const { conflicts, reason } = options;
  const session =
    options.session === undefined
      ? sessionOfShell(workspace)?.id
      : stepsIn(workspace).sessionId(options.session.trim());
  let turns = await turnsOf(workspace, options, session, io);
  const tellAgent = options.tellAgent === true || reason !== undefined;
  const chosen = { markers: conflicts === "markers", session, tellAgent, reason };
  const restore = {
    plan: async () => {
      const plan = await withProgress(io, "Reading changes", () => planUndo(workspace, turns, chosen));
      // A second plan must cover the same turns, even if `last` means another turn by then.
      if (plan.target.kind === "turns") turns = plan.target.turns.map(({ last }) => last.id);
      return plan;
    },
    apply: (plan: RestorePlan, agreed?: RestorePlan) => applyUndo(workspace, plan, agreed),
  };
  return confirmAndApply(io, restore, options, {
    nothing: (plan) => (changedNothing(plan) ? noChanges(workspace, turns.length) : undefined),
  });
}

function noChanges(workspace: Workspace, count: number): string[] {
  const next = newestWithChanges(workspace);
  const what = count === 1 ? "this turn" : "these turns";
  const sentences = [`Nothing to undo: ${what} changed no files.`];
  if (next)
    sentences.push(
      `The newest turn with changes is ${turnNumber(next.back)}, "${shorten(titleOf(next.step), 60)}": \`backtrail undo ${next.step.id}\`.`,
    );
  return sentences;
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
      "No turn was given, and there is no terminal to choose on.",
      "Give a step from `backtrail log`, `last`, or a number of turns back: backtrail undo last --yes",
    );
  }
  const { pickStep } = await import("../../picker/pick.ts");
  return [(await pickStep(workspace, io, TO_UNDO, session)).id];
}
