/** A session without a stored conversation, from its run log. */
import { shorten } from "../../base/text.ts";
import type { SessionStory, StoryEntry } from "../../run/sessions/story.ts";
import type { ConversationEntry, ExportedSession, SessionTurn } from "../protocol.ts";
import { sessionRow } from "../server/queries/session/session-rows.ts";
import { NO_REDACTION } from "../server/repository/redaction.ts";

const TITLE_LENGTH = 200;
const TYPES: Readonly<Record<StoryEntry["kind"], ConversationEntry["type"]>> = {
  prompt: "prompt",
  answer: "answer",
  tool: "tool-use",
  output: "tool-result",
  failure: "note",
};

/** The story must be redacted already. */
export function sessionFromStory(story: SessionStory): ExportedSession {
  let number = 0;
  const entries = story.entries.map(({ kind, text, name }, index): ConversationEntry => {
    if (kind === "prompt") number++;
    const isTool = kind === "tool" || kind === "output";
    const title = shorten(text.trim().split("\n")[0] ?? "", TITLE_LENGTH);
    return {
      index,
      type: TYPES[kind],
      time: null,
      number,
      text: kind === "tool" ? "" : text,
      shortened: false,
      tool: isTool ? { name: name ?? kind, id: null, title, input: kind === "tool" ? text : "" } : null,
    };
  });
  const session = sessionRow(story.session, NO_REDACTION);
  return {
    details: {
      session: { ...session, worktree: null, log: false, children: [], cost: story.cost, tokens: story.tokens },
      title: null,
      turns: story.turns.map((turn) => turnOf(turn, entries)),
      compactions: [],
      entries: entries.length,
      problem: entries.length === 0 ? "Nothing of this conversation is stored." : null,
      resume: null,
    },
    entries,
  };
}

function turnOf({ turn, prompt, time, tokens }: SessionStory["turns"][number], entries: readonly ConversationEntry[]) {
  const entry = entries.findIndex(({ type, number }) => type === "prompt" && number === turn);
  return {
    number: turn,
    prompt,
    id: null,
    entry: entry < 0 ? null : entry,
    startedAt: time,
    endedAt: null,
    fate: null,
    tokens,
    cost: null,
    context: null,
  } satisfies SessionTurn;
}
