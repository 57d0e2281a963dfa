/** Notices for agents whose files changed under them. `cli/render/words/restore/undo-notice.ts` has their text. */
import { sessionKey } from "../../base/ids.ts";
import { InstalledWords } from "../../base/words.ts";
import type { RestorePlan } from "../types.ts";

export interface NoticeWords {
  /** For the copy of a conversation: what is undone, what is not, and why. */
  undoNotice(plan: RestorePlan): string;
  /** For a session that stays open and whose conversation does not mention the restore. */
  openSessionNotice(plan: RestorePlan): string;
}

export const NOTICE_WORDS = new InstalledWords<NoticeWords>("notices to agents");

export function undoNotice(plan: RestorePlan): string {
  return NOTICE_WORDS.get().undoNotice(plan);
}

/** `quotes`: the sessions whose prompts the text quotes; `to`: the session that proposed the restore. */
export function openSessionNotice(plan: RestorePlan): { text: string; quotes: string[]; to?: string } {
  const text = NOTICE_WORDS.get().openSessionNotice(plan);
  const proposedBy = plan.options.proposal?.by;
  return { text, quotes: quotedSessions(plan), ...(proposedBy && { to: proposedBy }) };
}

function quotedSessions({ target }: RestorePlan): string[] {
  const sessions = target.kind === "turns" ? target.turns : target.kind === "step" ? [target.step] : [];
  const keys = sessions.flatMap(({ agent, session }) =>
    agent === null || session === null ? [] : [sessionKey(agent, session)],
  );
  return [...new Set(keys)];
}
