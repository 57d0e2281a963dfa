/** A session whole, for machines: `sessions show --json`, `sessions diff --json`, `export --format json`. */
import type { SessionStory } from "../../../run/sessions/story.ts";
import { sessionJson } from "../sessions.ts";

export function storyJson({ session, turns, tokens, cost, ms, files }: SessionStory) {
  return { session: { ...sessionJson(session), tokens, cost, ms, files }, turns };
}

/** Without where it lies on this machine. */
export function exportJson(stories: readonly SessionStory[], redacted: boolean): string {
  const sessions = stories.map((story) => {
    const { session, turns } = storyJson(story);
    const { log: _, ...told } = session;
    return { session: told, turns, entries: story.entries, leftOut: story.leftOut };
  });
  return `${JSON.stringify({ v: 1, redacted, sessions }, null, 2)}\n`;
}
