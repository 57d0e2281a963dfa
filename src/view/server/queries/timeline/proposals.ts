/** The open proposals of agents. */
import { listProposals } from "../../../../api/proposals.ts";
import type { Proposal, ProposalsAnswer } from "../../../protocol.ts";
import type { Context } from "../../routes.ts";

export async function proposals({ repository }: Context): Promise<ProposalsAnswer> {
  const redaction = await repository.redaction(false);
  const found = listProposals(repository.workspace).map(
    ({ id, by, kind, reason, time, expires, plan }): Proposal => ({
      id,
      agent: by?.agent ?? null,
      session: by?.session ?? null,
      action: kind,
      reason: redaction.text(reason),
      time,
      expires,
      turns: plan.turns.map(({ id: turn, agent, turn: number, prompt }) => ({
        id: turn,
        agent,
        number,
        prompt: prompt === null ? null : redaction.text(prompt),
      })),
      written: plan.written,
      deleted: plan.deleted,
    }),
  );
  return { available: true, proposals: found };
}
