/** Plans and receipts as JSON: for `--json`, and for the library. Facts have a kind; sentences are beside it. */
import type { PlannedTurn } from "../restore/changes/turns.ts";
import type { RestoreNote } from "../restore/notes.ts";
import type { Receipt, RestorePlan } from "../restore/types.ts";
import { WORDS } from "./words.ts";

/** The plan as `--json` prints it. */
export function planJson(plan: RestorePlan) {
  const { write, delete: removed, chmod, conflicts, create, yours } = plan;
  const words = WORDS.get();
  const notUndone = plan.notUndone.map(words.sideEffect);
  return {
    write,
    delete: removed,
    chmod,
    notUndone,
    conflicts: conflicts.map(({ path, reason, markers }) => ({
      path,
      kind: reason.kind,
      why: words.conflict(reason),
      ...(markers ? { markers } : {}),
      ...("by" in reason && reason.by?.kind === "turn" ? { turn: reason.by.step } : {}),
    })),
    create,
    turns: plan.turns.map(turnJson),
    ...(plan.bringsBack ? { bringsBack: plan.bringsBack.map(turnJson) } : {}),
    yours,
    ...(plan.oversized ? { oversized: plan.oversized } : {}),
  };
}

function turnJson({ id, agent, session, turn, prompt, subagent, partial, running }: PlannedTurn) {
  return {
    id,
    agent,
    session,
    turn,
    prompt,
    ...(subagent === null ? {} : { subagent }),
    ...(partial ? { partial } : {}),
    ...(running ? { running } : {}),
  };
}

/** Notes as sentences for people, and as data for programs. */
export function notesJson(notes: readonly RestoreNote[]) {
  return { notes: notes.map(WORDS.get().note), facts: notes };
}

/** The receipt as `--json` prints it. */
export function receiptJson(receipt: Receipt | null) {
  if (!receipt) return null;
  const { safetyStep, written, deleted, chat, kept, openSessions } = receipt;
  return { safetyStep, written, deleted, chat, kept, openSessions, ...notesJson(receipt.notes) };
}
