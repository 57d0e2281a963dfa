/** `apply`: shows the plan that an agent proposed, asks, and applies it. */
import { UserError } from "../../../base/errors.ts";
import { applyProposal, planProposal, requireOpen } from "../../../proposals/decide.ts";
import type { RestorePlan } from "../../../restore/types.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { reasonLines } from "../../render/proposal.ts";
import { confirmAndApply, planAsJson } from "../../shared/confirm-and-apply.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { applyCommand } from "./commands.ts";

type Options = OptionsOf<typeof applyCommand>;

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  let proposal = requireOpen(workspace, options.proposal);
  if (!options.json) io.say(`${reasonLines(proposal, io.err.paint).join("\n")}\n`);
  const restore = {
    async plan() {
      const current = await withProgress(io, "Reading changes", () => planProposal(workspace, proposal));
      proposal = current.proposal;
      if (!current.isStale) return current.plan;
      if (options.yes && !options.dryRun) {
        if (options.json) io.json({ plan: planAsJson(current.plan), receipt: null });
        throw stale(proposal.id);
      }
      if (!options.json) io.say("The files changed since this was proposed. The new plan:\n");
      return current.plan;
    },
    // The user agreed to this plan only: with --yes, to the proposed plan.
    apply: (plan: RestorePlan) => applyProposal(workspace, proposal, plan),
  };
  return confirmAndApply(io, restore, options);
}

function stale(id: string): UserError {
  return new UserError(
    "refused",
    "The files changed since this was proposed. Nothing was changed.",
    `See the new plan with \`backtrail apply ${id}\`.`,
  );
}
