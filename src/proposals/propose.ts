/** Makes proposals: plans that are stored with an id, for a person to apply. Nothing else changes. */
import { now } from "../base/clock.ts";
import { newStepId } from "../base/ids.ts";
import { printable, shorten } from "../base/text.ts";
import type { Workspace } from "../git/workspace.ts";
import { resolveTarget } from "../restore/targets/resolve.ts";
import { isEmptyPlan, obstacles, type RestorePlan, type StateTarget } from "../restore/types.ts";
import {
  expiryFrom,
  listProposals,
  type ProposalRecord,
  type ProposalTarget,
  removeOldProposals,
  stateOf,
  writeProposal,
} from "../steps/proposals.ts";
import { digestOf, effectsOf, quotedSessions } from "./effects.ts";
import { planTarget } from "./plan.ts";
import { ProposalError } from "./problems.ts";

/** More open proposals than a person would read. */
const MAX_OPEN = 20;
const MAX_REASON = 1_000;

export interface ProposeOptions {
  reason: string;
  by: { agent: string; session: string } | null;
}

export interface Proposed {
  proposal: ProposalRecord;
  plan: RestorePlan;
}

/** Each turn is named as for `undo`. */
export async function proposeUndo(
  workspace: Workspace,
  turns: readonly string[],
  options: ProposeOptions,
): Promise<Proposed> {
  return propose(workspace, { kind: "undo", target: { turns: [...turns] } }, options);
}

/** The target is named as for `rewind`. */
export async function proposeRewind(workspace: Workspace, target: string, options: ProposeOptions): Promise<Proposed> {
  const place = await resolveTarget(workspace, target, options.by?.session);
  return propose(workspace, { kind: "rewind", target: idOf(place) }, options);
}

async function propose(
  workspace: Workspace,
  wanted: { kind: ProposalRecord["kind"]; target: ProposalTarget },
  options: ProposeOptions,
): Promise<Proposed> {
  const reason = shorten(printable(options.reason).trim(), MAX_REASON);
  if (reason === "") throw new ProposalError("usage", { kind: "proposal-without-reason" });
  const { by } = options;
  const time = now();
  const id = newStepId();
  const plan = await planTarget(workspace, { ...wanted, id, reason, by });
  refusePointless(plan);
  const target: ProposalTarget =
    plan.target.kind === "turns" ? { turns: plan.target.turns.map(({ last }) => last.id) } : idOf(plan.target);
  removeOldProposals(workspace);
  const open = listProposals(workspace).filter((other) => stateOf(other) === "open");
  // An agent that proposes it again gets the same proposal, with the current plan.
  const same = open.find((other) => other.kind === wanted.kind && isSame(other.target, target));
  if (!same && open.length >= MAX_OPEN)
    throw new ProposalError("refused", { kind: "too-many-proposals", open: open.length });
  const proposal: ProposalRecord = {
    v: 1,
    id: same?.id ?? id,
    kind: wanted.kind,
    target,
    reason,
    by,
    time: time.toISOString(),
    expires: expiryFrom(time),
    revision: (same?.revision ?? 0) + 1,
    digest: digestOf(plan),
    plan: effectsOf(plan),
    quotes: quotedSessions(plan, by),
    state: "open",
    decidedAt: null,
    restore: null,
  };
  writeProposal(workspace, proposal);
  return { proposal, plan };
}

function refusePointless(plan: RestorePlan): void {
  const [conflict, ...more] = obstacles(plan);
  if (conflict)
    throw new ProposalError("refused", { kind: "proposal-in-conflict", path: conflict.path, more: more.length });
  if (isEmptyPlan(plan))
    throw new ProposalError("not-found", { kind: "proposal-changes-nothing", isUndo: plan.kind === "undo" });
}

function idOf(place: StateTarget): ProposalTarget {
  return place.kind === "step" ? { step: place.step.id } : { commit: place.commit };
}

function isSame(a: ProposalTarget, b: ProposalTarget): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
