/** Renders a whole session as JSON, for `sessions show --json`, `sessions diff --json` and `export --format json`. */
import type { SessionStory } from "../../../run/sessions/story.ts";
import { jsonText } from "../../terminal/json.ts";
import { sessionJson } from "../sessions/list.ts";

export function storyJson({ session, turns, tokens, cost, ms, files }: SessionStory) {
  return { session: { ...sessionJson(session), tokens, cost, ms, files }, turns };
}

/** Omits the log's path, which is specific to this machine. */
export function exportJson(stories: readonly SessionStory[], redacted: boolean): string {
  const sessions = stories.map((story) => {
    const { session, turns } = storyJson(story);
    const { log: _, ...shown } = session;
    return { session: shown, turns, entries: story.entries, leftOut: story.leftOut };
  });
  return jsonText({ v: 1, redacted, sessions });
}
