/** Renders the facts of a session as label and value, for `sessions show`, `sessions diff` and `export`. */
import { oneLine } from "../../../base/text.ts";
import type { SessionStory } from "../../../run/sessions/story.ts";
import { costWords, duration } from "../layout/amounts.ts";
import { moment } from "../layout/time.ts";
import { whatOf } from "../sessions/list.ts";
import { tokenLine } from "../step/step.ts";

export type Fact = [label: string, value: string];

export function factsOf({ session, tokens, cost, ms, files }: SessionStory): Fact[] {
  const facts: [string, string | null][] = [
    ["agent", session.model ? `${session.agent} (${session.model})` : session.agent],
    ["status", session.status],
    ["began", session.startedAt && moment(session.startedAt)],
    ["took", ms === null ? null : duration(ms)],
    ["turns", whatOf(session)],
    ["parent", session.parent],
    ["tags", session.tags.join(", ")],
    ["tokens", tokens && tokenLine(tokens)],
    ["cost", cost || tokens ? costWords(cost) : null],
    ["files", files && files.length > 0 ? String(files.length) : null],
    ["worktree", session.worktree === "main" ? null : session.worktree],
  ];
  return facts.flatMap(([label, value]): Fact[] => (value ? [[label, oneLine(value)]] : []));
}
