/** Reduces a plan to what a proposal stores: its effects in brief, and a digest that shows whether they changed. */
import { hexDigest } from "../base/digest.ts";
import { sessionKey } from "../base/ids.ts";
import { oneLine, shorten } from "../base/text.ts";
import type { RestorePlan } from "../restore/types.ts";
import { MAX_PATHS, type ProposedEffects } from "../steps/proposals.ts";

const PROMPT_LENGTH = 200;
const MAX_TURNS = 20;

export function effectsOf(plan: RestorePlan): ProposedEffects {
  const written = [...plan.write, ...plan.chmod];
  return {
    written: written.length,
    deleted: plan.delete.length,
    write: written.slice(0, MAX_PATHS),
    delete: plan.delete.slice(0, MAX_PATHS),
    turns: plan.turns.slice(0, MAX_TURNS).map(({ id, agent, session, turn, prompt }) => ({
      id,
      agent,
      session,
      turn,
      prompt: prompt === null ? null : shorten(oneLine(prompt), PROMPT_LENGTH),
    })),
  };
}

/**
 * Covers the content that the plan replaces and its replacement. Leaves the ids of steps out, because a turn that ends
 * after the proposal was made changes nothing in the files.
 */
export function digestOf({ effects, turns, conflicts, head, restoresIndex, chat }: RestorePlan): string {
  const covered = {
    files: effects.files,
    replaced: [...effects.replaced],
    turns: turns.map(({ agent, session, turn, subagent }) => ({ agent, session, turn, subagent })),
    conflicts: conflicts.map(({ path, markers }) => ({ path, markers })),
    head,
    restoresIndex,
    chat: chat.kind === "fork" ? chat.step.id : chat.kind,
  };
  return hexDigest("sha256", JSON.stringify(covered));
}

/** Keys of the sessions that the record of this plan quotes. */
export function quotedSessions(plan: RestorePlan, by: { agent: string; session: string } | null): string[] {
  const quoted = [...plan.turns, ...(by ? [by] : [])].map(({ agent, session }) => sessionKey(agent, session));
  return [...new Set(quoted)];
}
