/** Library API: proposals, which are plans that an agent makes and a person applies or dismisses. */
import type { Workspace } from "../git/workspace.ts";
import * as decisions from "../proposals/decide.ts";
import * as making from "../proposals/propose.ts";
import { PlanOutdated } from "../restore/changes/same-plan.ts";
import * as records from "../steps/proposals.ts";
import { notesJson } from "./json.ts";
import { ApiError } from "./problems.ts";
import { publicPlan } from "./restore/restore.ts";
import type { Receipt, RestorePlan } from "./types.ts";

/** A plan with an id. It changes nothing until a person applies it. */
export interface Proposal {
  id: string;
  kind: "undo" | "rewind";
  /** Only an open proposal can be applied. */
  state: "open" | "applied" | "dismissed" | "expired";
  /** The steps of the turns to undo, or the state to rewind to. */
  target: { turns: string[] } | { step: string } | { commit: string };
  /** The agent's words. */
  reason: string;
  by: { agent: string; session: string } | null;
  time: string;
  expires: string;
  /** Counts how often the plan was drawn up: it is drawn up again if the files have changed. */
  revision: number;
  /** The plan in brief; lists of paths have at most 50 entries. */
  plan: {
    written: number;
    deleted: number;
    write: string[];
    delete: string[];
    turns: { id: string; agent: string; session: string; turn: number; prompt: string | null }[];
  };
  /** The restore that applied it. */
  restore: { id: string; safetyStep: string } | null;
}

export interface ProposeOptions {
  /** Why the changes should go. A person reads it before deciding. */
  reason: string;
  /** The session that proposes: its agent learns the outcome with its next prompt. */
  by?: { agent: string; session: string } | null;
}

export interface Proposed {
  proposal: Proposal;
  plan: RestorePlan;
}

/**
 * Proposes to undo turns. Each turn is named as for `planUndo`. Stores the plan and changes nothing else. Throws a
 * `UserError` if there is nothing to undo or later changes are in conflict.
 *
 * @example
 * const { proposal } = await proposeUndo(workspace, ["2"], { reason: "The cache returns old prices." });
 * console.log(`backtrail apply ${proposal.id}`);
 */
export async function proposeUndo(
  workspace: Workspace,
  turns: readonly string[],
  { reason, by = null }: ProposeOptions,
): Promise<Proposed> {
  return shown(await making.proposeUndo(workspace, turns, { reason, by }));
}

/**
 * Proposes to rewind code and conversation to a state, named as for `planRewind`. Stores the plan and changes nothing
 * else.
 *
 * @example
 * const { plan } = await proposeRewind(workspace, "last-green", { reason: "The tests fail since then." });
 */
export async function proposeRewind(
  workspace: Workspace,
  target: string,
  { reason, by = null }: ProposeOptions,
): Promise<Proposed> {
  return shown(await making.proposeRewind(workspace, target, { reason, by }));
}

/**
 * Lists the proposals of this work tree, newest first: open ones, and with `all` those that were decided or expired
 * within the last week.
 *
 * @example
 * for (const { id, kind, reason } of listProposals(workspace)) console.log(id, kind, reason);
 */
export function listProposals(workspace: Workspace, { all = false }: { all?: boolean } = {}): Proposal[] {
  return records
    .listProposals(workspace)
    .map(publicProposal)
    .filter(({ state }) => all || state === "open");
}

/**
 * Makes the plan of an open proposal for the current files. `isStale` says that the plan differs from the one that
 * was proposed; the proposal then holds the new plan.
 *
 * @example
 * const { plan, isStale } = await planProposal(workspace, id);
 */
export async function planProposal(workspace: Workspace, id: string): Promise<Proposed & { isStale: boolean }> {
  const current = await decisions.planProposal(workspace, decisions.requireOpen(workspace, id));
  return { ...shown(current), isStale: current.isStale };
}

/**
 * Applies an open proposal, as a person's decision. Refuses a stale one, with nothing changed: its plan is drawn up
 * again, to be shown and applied by another call. With `revision`, also refuses a plan that is not the one of that
 * revision: the one that the person saw.
 *
 * @example
 * const receipt = await applyProposal(workspace, id);
 */
export async function applyProposal(
  workspace: Workspace,
  id: string,
  { revision }: { revision?: number } = {},
): Promise<Receipt> {
  const open = decisions.requireOpen(workspace, id);
  if (revision !== undefined && revision !== open.revision) throw stale();
  const { proposal, plan, isStale } = await decisions.planProposal(workspace, open);
  if (isStale) throw stale();
  try {
    const receipt = await decisions.applyProposal(workspace, proposal, plan);
    return { ...receipt, ...notesJson(receipt.notes) };
  } catch (error) {
    throw error instanceof PlanOutdated ? stale() : error;
  }
}

/**
 * Dismisses an open proposal: nobody can apply it anymore.
 *
 * @example
 * dismissProposal(workspace, id);
 */
export function dismissProposal(workspace: Workspace, id: string): Proposal {
  return publicProposal(decisions.dismissProposal(workspace, id));
}

function stale(): ApiError {
  return new ApiError("refused", { kind: "proposal-stale" });
}

function shown({ proposal, plan }: making.Proposed): Proposed {
  return { proposal: publicProposal(proposal), plan: publicPlan(plan) };
}

function publicProposal(record: records.ProposalRecord): Proposal {
  const { id, kind, target, reason, by, time, expires, revision, plan, restore } = record;
  return { id, kind, state: records.stateOf(record), target, reason, by, time, expires, revision, plan, restore };
}
