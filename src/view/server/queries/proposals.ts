/** The open proposals of agents. */
import { listProposals } from "../../../api/proposals.ts";
import type { Proposal, ProposalsAnswer } from "../../protocol.ts";
import type { Context } from "../routes.ts";

export async function proposals({ repository }: Context): Promise<ProposalsAnswer> {
  const redaction = await repository.redaction(false);
  const found = listProposals(repository.workspace).map(
    ({ id, by, kind, target, reason, time, revision }): Proposal => ({
      id,
      agent: by?.agent ?? null,
      session: by?.session ?? null,
      action: kind,
      target: "turns" in target ? target.turns.join(", ") : "step" in target ? target.step : target.commit,
      reason: redaction.text(reason),
      time,
      stale: revision > 1,
    }),
  );
  return { available: true, proposals: found };
}
