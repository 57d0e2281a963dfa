/** Tests whether two plans do the same to the same content: only then may one replace the other. */

import type { RecordedFile } from "../plan/files.ts";
import type { RestorePlan } from "../types.ts";
import type { PlannedTurn } from "./turns.ts";

/** The plan that the user confirmed no longer matches what would be done. */
export class PlanOutdated extends Error {
  constructor() {
    super("The files changed after this plan was made.");
    this.name = "PlanOutdated";
  }
}

export function isSamePlan(a: RestorePlan, b: RestorePlan): boolean {
  return (
    isSame(a.effects.files, b.effects.files) &&
    isSameContent(a.effects.replaced, b.effects.replaced) &&
    isSame(summaryOf(a), summaryOf(b))
  );
}

/** The effects besides file content, without times and explanations. */
function summaryOf({ turns, bringsBack = [], conflicts, head, restoresIndex, chat }: RestorePlan) {
  return {
    turns: [turns, bringsBack].map(namesOf),
    conflicts: conflicts.map(({ path, markers }) => ({ path, markers })),
    head,
    restoresIndex,
    chat: chat.kind === "fork" ? chat.step.id : chat.kind,
  };
}

function namesOf(turns: readonly PlannedTurn[]) {
  return turns.map(({ id, agent, session, turn, subagent }) => ({ id, agent, session, turn, subagent }));
}

function isSameContent(a: ReadonlyMap<string, RecordedFile>, b: ReadonlyMap<string, RecordedFile>): boolean {
  if (a.size !== b.size) return false;
  for (const [path, file] of a) if (!isSame(file, b.get(path))) return false;
  return true;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
