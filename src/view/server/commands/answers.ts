/** Plans of restores and receipts as the page shows them: without secrets, and with the prompts of turns that they name. */
import type { Receipt, RestorePlan } from "../../../api/types.ts";
import { plural } from "../../../base/text.ts";
import { openSessions } from "../../../recording/notice.ts";
import type { ConflictingTurn, Receipt as ReceiptAnswer, RestorePlanAnswer } from "../../protocol.ts";
import { rowFacts, turnRow } from "../queries/timeline/turn-rows.ts";
import type { OpenRepository } from "../repository/open.ts";
import type { Redaction } from "../repository/redaction.ts";

export async function restoreAnswer(
  repository: OpenRepository,
  id: string,
  action: RestorePlanAnswer["action"],
  restore: RestorePlan,
): Promise<RestorePlanAnswer> {
  const { restoresIndex, head, chat, write, delete: deleted, chmod, conflicts } = restore;
  const redaction = await repository.redaction(false);
  const inTheWay = conflicts.filter(({ markers }) => !markers).length;
  const changesNothing = write.length + deleted.length + chmod.length === 0 && head === null && !restoresIndex;
  const working = openSessions(repository.workspace, null).filter(({ openTurn }) => openTurn !== null);
  return {
    id,
    action,
    empty: changesNothing && chat.kind !== "fork",
    blocked: inTheWay === 0 ? null : `${plural(inTheWay, "file")} can't be restored without losing later changes.`,
    plan: shownPlan(restore, redaction),
    conflicting: conflictingTurns(repository, restore, redaction),
    preview: null,
    restoresIndex,
    head,
    chat: chatOf(chat),
    working: working.map(({ agent, id: session, title }) => ({
      agent,
      session,
      title: title === null ? null : redaction.text(title),
    })),
  };
}

/** As `--json` of the command prints it, with placeholders for secrets. */
function shownPlan(
  { kind: _, restoresIndex: _index, head: _head, chat: _chat, ...told }: RestorePlan,
  { text }: Redaction,
): RestorePlanAnswer["plan"] {
  const plan = told as unknown as RestorePlanAnswer["plan"];
  const shownTurn = (turn: (typeof plan.turns)[number]) => ({
    ...turn,
    prompt: turn.prompt === null ? null : text(turn.prompt),
  });
  return {
    ...plan,
    turns: plan.turns.map(shownTurn),
    ...(plan.bringsBack ? { bringsBack: plan.bringsBack.map(shownTurn) } : {}),
    notUndone: plan.notUndone.map(({ what, command, ...rest }) => ({
      ...rest,
      what: text(what),
      ...(command === undefined ? {} : { command: text(command) }),
    })),
  };
}

/** The turns that changed the same lines, once each. */
function conflictingTurns(
  repository: OpenRepository,
  { conflicts }: RestorePlan,
  redaction: Redaction,
): ConflictingTurn[] {
  const { turns } = repository.indexWithMark();
  const facts = rowFacts(repository, turns, redaction);
  const steps = new Set(conflicts.flatMap(({ turn }) => (turn === undefined ? [] : [turn])));
  return [...steps].flatMap((step) => {
    const group = turns.of(step);
    const row = group?.isTurn ? turnRow(group, "current", facts) : null;
    return row ? [{ step, id: row.id, agent: row.agent, prompt: row.prompt }] : [];
  });
}

/** Without the step that the library's plan carries along. */
function chatOf(chat: RestorePlan["chat"]): RestorePlanAnswer["chat"] {
  if (chat.kind === "fork") return { kind: "fork", agent: chat.agent };
  if (chat.kind === "none") return { kind: "none", reason: chat.reason, why: chat.why };
  return { kind: "resume", agent: chat.agent, session: chat.session, command: chat.command };
}

/** Notes that ask the user to do something, before anything else is read. */
const TODO: ReadonlySet<string> = new Set(["conflict-markers", "conflicts-left"]);

/** The note names an option of the command line: the page says it in its own words. */
const UNTOLD = "undo-only";

/** The kind of a note; of a conversation that stays as it is, why. */
function noteKind(fact: Receipt["facts"][number] | undefined): string {
  if (fact?.kind !== "no-conversation") return fact?.kind ?? "";
  return (fact as unknown as { reason: { kind: string } }).reason.kind;
}

export function receiptAnswer(
  { safetyStep, written, deleted, chat, kept, openSessions: open, notes, facts }: Receipt,
  { text }: Redaction,
): ReceiptAnswer {
  const told = notes.map((note, i) => ({ note: text(note), kind: noteKind(facts[i]) }));
  return {
    safetyStep,
    written,
    deleted,
    chat,
    kept: [...kept],
    openSessions: open.map((session) => ({
      ...session,
      title: session.title === null ? null : text(session.title),
    })),
    todo: told.flatMap(({ note, kind }) => (TODO.has(kind) ? [note] : [])),
    canTell: told.some(({ kind }) => kind === UNTOLD),
    notes: told.flatMap(({ note, kind }) => (TODO.has(kind) || kind === UNTOLD ? [] : [note])),
  };
}
