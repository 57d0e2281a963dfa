/** Builds the plan of a proposal from its targets. */
import { sessionKey } from "../base/ids.ts";
import type { Workspace } from "../git/workspace.ts";
import { planRewind } from "../restore/rewind.ts";
import { resolveTarget } from "../restore/targets/resolve.ts";
import type { RestorePlan } from "../restore/types.ts";
import { planUndo } from "../restore/undo.ts";
import type { ProposalRecord } from "../steps/proposals.ts";

type Wanted = Pick<ProposalRecord, "id" | "target" | "reason" | "by">;

/** The agent that proposed it learns the outcome with its next prompt, even if it is closed until then. */
export async function planTarget(workspace: Workspace, { id, target, reason, by }: Wanted): Promise<RestorePlan> {
  const proposal = { id, by: by === null ? null : sessionKey(by.agent, by.session) };
  if ("turns" in target)
    return planUndo(workspace, target.turns, { reason, proposal, ...(by && { session: by.session }) });
  const place = await resolveTarget(workspace, "step" in target ? target.step : target.commit);
  return planRewind(workspace, place, { reason, proposal, tellAgent: true });
}
