/** A person's decision about a proposal: apply it, or dismiss it. A stale proposal is drawn up again first. */
import { now } from "../base/clock.ts";
import type { Workspace } from "../git/workspace.ts";
import { applyRestore } from "../restore/rewind.ts";
import type { Receipt, RestorePlan } from "../restore/types.ts";
import { listProposals, type ProposalRecord, readProposal, stateOf, writeProposal } from "../steps/proposals.ts";
import { digestOf, effectsOf, quotedSessions } from "./effects.ts";
import { planTarget } from "./plan.ts";
import { ProposalError } from "./problems.ts";

/** Finds a proposal by its id or the beginning of it. */
function findProposal(workspace: Workspace, id: string): ProposalRecord {
  const wanted = id.trim();
  const found = /^[k-z]{4,12}$/.test(wanted)
    ? listProposals(workspace).filter((proposal) => proposal.id.startsWith(wanted))
    : [];
  const [only, ...others] = found;
  if (others.length > 0) throw new ProposalError("usage", { kind: "proposal-ambiguous", id: wanted });
  if (only) return only;
  throw new ProposalError("not-found", { kind: "proposal-unknown", id: wanted });
}

/** Finds a proposal that can still be applied. */
export function requireOpen(workspace: Workspace, id: string): ProposalRecord {
  const proposal = findProposal(workspace, id);
  const state = stateOf(proposal);
  if (state === "open") return proposal;
  throw closed(proposal, state);
}

function closed({ id }: ProposalRecord, state: "applied" | "dismissed" | "expired"): ProposalError {
  return new ProposalError("not-found", { kind: "proposal-closed", id, state });
}

export interface CurrentPlan {
  proposal: ProposalRecord;
  plan: RestorePlan;
  /** The plan differs from the proposed plan. The record now holds the new plan. */
  isStale: boolean;
}

/** Draws up the plan for the current files. */
export async function planProposal(workspace: Workspace, proposal: ProposalRecord): Promise<CurrentPlan> {
  const plan = await planTarget(workspace, proposal);
  const digest = digestOf(plan);
  if (digest === proposal.digest) return { proposal, plan, isStale: false };
  const quotes = [...new Set([...proposal.quotes, ...quotedSessions(plan, proposal.by)])];
  const redrawn = { ...proposal, digest, quotes, plan: effectsOf(plan), revision: proposal.revision + 1 };
  writeProposal(workspace, redrawn);
  return { proposal: redrawn, plan, isStale: true };
}

/** Applies exactly this plan: throws `PlanOutdated`, with nothing changed, if the files changed since. */
export async function applyProposal(workspace: Workspace, { id }: ProposalRecord, plan: RestorePlan): Promise<Receipt> {
  const receipt = await applyRestore(workspace, plan, plan);
  decide(workspace, id, { state: "applied", restore: { id: receipt.id, safetyStep: receipt.safetyStep } });
  return receipt;
}

export function dismissProposal(workspace: Workspace, id: string): ProposalRecord {
  const proposal = findProposal(workspace, id);
  if (proposal.state !== "open") throw closed(proposal, proposal.state);
  return decide(workspace, proposal.id, { state: "dismissed", restore: null }) ?? proposal;
}

function decide(
  workspace: Workspace,
  id: string,
  decision: Pick<ProposalRecord, "state" | "restore">,
): ProposalRecord | undefined {
  const current = readProposal(workspace, id);
  if (!current) return undefined;
  const decided = { ...current, ...decision, decidedAt: now().toISOString() };
  writeProposal(workspace, decided);
  return decided;
}
