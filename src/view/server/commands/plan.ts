/**
 * Plans and their application. A plan has an id, is kept for ten minutes, and is applied once, and only while the files
 * are as the plan saw them. The page never says what to write: it names a plan that this process has drawn up.
 */

import { notesJson } from "../../../api/json.ts";
import { dismissProposal } from "../../../api/proposals.ts";
import { recover } from "../../../api/restore/recover.ts";
import { applyRestore, planRewind, planUndo, publicPlan } from "../../../api/restore/restore.ts";
import { fork, save } from "../../../api/sessions.ts";
import type { Receipt, RestorePlan } from "../../../api/types.ts";
import { UserError } from "../../../base/errors.ts";
import { isCommandWord, newStepId } from "../../../base/ids.ts";
import { applyProposal, planProposal, requireOpen } from "../../../proposals/decide.ts";
import { PlanOutdated } from "../../../restore/changes/same-plan.ts";
import { choosePlace } from "../../../restore/fork/place.ts";
import { planRedo } from "../../../restore/redo.ts";
import { namedStep, requireFreeName } from "../../../restore/targets/names.ts";
import { listForks } from "../../../steps/forks.ts";
import type { ApplyAnswer, PlanAnswer, PlanRequest, RestorePlanAnswer } from "../../protocol.ts";
import { forkRow } from "../queries/commits/forks.ts";
import type { OpenRepository } from "../repository/open.ts";
import { CURRENT_FILES } from "../repository/states.ts";
import type { Context } from "../routes.ts";
import { receiptAnswer, restoreAnswer } from "./answers.ts";
import { planRequest, requiredText } from "./requests.ts";

interface KeptPlan {
  repository: OpenRepository;
  request: PlanRequest;
  answer: PlanAnswer;
  /** The plan that the library can apply; null for anything but a restore. */
  restore: RestorePlan | null;
  /** Applies exactly the plan that was shown. */
  apply: (() => Promise<Receipt>) | null;
  expires: number;
}

const LIFETIME_MS = 10 * 60_000;
const MAX_PLANS = 20;
const plans = new Map<string, KeptPlan>();

export async function plan(context: Context, body: Record<string, unknown>): Promise<PlanAnswer> {
  // An interrupted restore is finished first, as before every command.
  await recover(context.repository.workspace);
  return draw(context, planRequest(body));
}

export async function apply(context: Context, body: Record<string, unknown>): Promise<ApplyAnswer> {
  const id = requiredText(body, "plan");
  const kept = plans.get(id);
  plans.delete(id);
  if (!kept || kept.repository !== context.repository || kept.expires < Date.now())
    throw new UserError("not-found", "This plan has expired.", "Draw it up again.");
  const { repository, request, answer, restore } = kept;
  if (answer.blocked !== null) throw new UserError("refused", answer.blocked);
  repository.watchPlanned([], () => undefined);
  if (restore) return applyPlan(context, kept, restore);
  const { workspace } = repository;
  if (request.action === "save") {
    if (request.name !== null) await requireFreeName(workspace, request.name);
    const step = await save(workspace, request.name ?? undefined);
    return { result: "saved", step: step.id, name: step.name };
  }
  if (request.action === "fork") {
    const made = await fork(workspace, request.target, { branch: request.branch, executable: context.executable });
    const record = listForks(workspace).find(({ id: one }) => one === made.id);
    if (!record) throw new UserError("failed", "The fork was made, but its record can't be read.");
    return { result: "forked", fork: forkRow(record, await repository.redaction(false)), notes: made.notes };
  }
  throw new UserError("usage", "There is nothing to apply: run the command in a terminal.");
}

/** Dismisses a proposal, as `backtrail proposals dismiss` does. */
export async function dismiss({ repository }: Context, body: Record<string, unknown>): Promise<{ dismissed: string }> {
  const id = requiredText(body, "proposal");
  return { dismissed: dismissProposal(repository.workspace, id).id };
}

async function applyPlan(
  context: Context,
  { repository, request, apply: own }: KeptPlan,
  restore: RestorePlan,
): Promise<ApplyAnswer> {
  try {
    const receipt = own ? await own() : await applyRestore(repository.workspace, restore, { ifUnchanged: true });
    return {
      result: "restored",
      operation: receipt.id,
      receipt: receiptAnswer(receipt, await repository.redaction(false)),
    };
  } catch (error) {
    if (!(error instanceof PlanOutdated)) throw error;
    return { result: "stale", plan: await draw(context, request) };
  }
}

async function draw({ repository, repositories }: Context, request: PlanRequest): Promise<PlanAnswer> {
  const id = newStepId();
  const { answer, restore, apply: own = null } = await drawn(repository, request, id);
  const now = Date.now();
  for (const [other, { expires }] of plans) if (expires < now || plans.size >= MAX_PLANS) plans.delete(other);
  plans.set(id, { repository, request, answer, restore, apply: own, expires: now + LIFETIME_MS });
  repository.watchPlanned(restore ? pathsOf(restore) : [], () => repositories.changed(repository.id, ["worktree"]));
  return answer;
}

/** The files that decide whether the plan still fits. */
function pathsOf({ write, delete: deleted, chmod, conflicts }: RestorePlan): string[] {
  return [...new Set([...write, ...deleted, ...chmod, ...conflicts.map(({ path }) => path)])];
}

type Drawn = Pick<KeptPlan, "answer" | "restore"> & Partial<Pick<KeptPlan, "apply">>;

async function drawn(repository: OpenRepository, request: PlanRequest, id: string): Promise<Drawn> {
  const { workspace } = repository;
  const base = { id, empty: false, blocked: null };
  const answerOf = async (action: RestorePlanAnswer["action"], restore: RestorePlan): Promise<Drawn> => ({
    answer: await restoreAnswer(repository, id, action, restore),
    restore,
  });
  switch (request.action) {
    case "rewind": {
      const { codeOnly, chatOnly, paths, tellAgent, reason } = request;
      const target = targetOf(repository, request);
      const drawn = await answerOf(
        "rewind",
        await planRewind(workspace, target, { codeOnly, chatOnly, paths, tellAgent, reason }),
      );
      if (chatOnly || paths) return drawn;
      const answer = { ...drawn.answer, preview: { from: CURRENT_FILES, to: target } } as RestorePlanAnswer;
      return { ...drawn, answer };
    }
    case "undo": {
      const { turns, markers, tellAgent, reason } = request;
      return answerOf("undo", await planUndo(workspace, turns, { markers, tellAgent, reason }));
    }
    case "redo":
      return answerOf("redo", publicPlan(await planRedo(workspace, { markers: request.markers ?? false })));
    case "fork": {
      const step = repository.step(request.target);
      const { branch, directory } = await choosePlace(workspace, step.prompt ?? "", { branch: request.branch });
      const answer = {
        ...base,
        action: request.action,
        from: step.id,
        branch,
        directory,
        chat: step.transcript !== null,
      };
      return { answer, restore: null };
    }
    case "save": {
      const { action, name } = request;
      if (name !== null) await requireFreeName(workspace, name);
      const previous = name === null ? undefined : namedStep(workspace, name);
      return { answer: { ...base, action, name, previous: previous?.id ?? null }, restore: null };
    }
    case "resume": {
      const found = repository
        .indexWithMark()
        .turns.all()
        .find(({ session }) => session === request.session);
      if (!found?.agent || !isCommandWord(request.session))
        throw new UserError("not-found", "This session is not recorded here.");
      const command = `backtrail resume ${request.session}`;
      return {
        answer: { ...base, action: request.action, agent: found.agent, session: request.session, command },
        restore: null,
      };
    }
    case "proposal":
      return proposalAnswer(repository, id, request.proposal);
  }
}

/** The record says who decided. It may be decided, or drawn up again, elsewhere meanwhile. */
async function proposalAnswer(repository: OpenRepository, id: string, wanted: string): Promise<Drawn> {
  const { workspace } = repository;
  const { proposal, plan: own, isStale } = await planProposal(workspace, requireOpen(workspace, wanted));
  const restore = publicPlan(own);
  const answer = await restoreAnswer(repository, id, proposal.kind, restore);
  const redaction = await repository.redaction(false);
  const told = { id: proposal.id, agent: proposal.by?.agent ?? null, reason: redaction.text(proposal.reason), isStale };
  return {
    answer: { ...answer, proposal: told } as RestorePlanAnswer,
    restore,
    async apply() {
      const receipt = await applyProposal(workspace, requireOpen(workspace, proposal.id), own);
      return { ...receipt, ...notesJson(receipt.notes) };
    },
  };
}

/** The library accepts many words as targets; the page names steps only. */
function targetOf(repository: OpenRepository, { target, side }: Extract<PlanRequest, { action: "rewind" }>): string {
  const { steps } = repository.indexWithMark().turns.of(target) ?? {};
  const wanted = side === "exact" ? "" : side === "before" ? "turn-start" : "turn-end";
  const step = steps?.find((one) => (side === "exact" ? one.id === target : one.kind === wanted));
  if (step) return step.id;
  throw new UserError(
    "not-found",
    `The state ${side === "exact" ? "at this step" : `${side} this turn`} is not recorded.`,
  );
}
