/**
 * Aider. It has no hooks and says what it does in one Markdown file, which `watch` follows. It can't be made to
 * continue a cut conversation as a session of its own: no forker.
 */
import type { Agent } from "../agent.ts";
import type { Profile } from "../profile.ts";
import { readConversation, readStretch } from "./history.ts";
import { HistoryReader } from "./signs.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: () => null,
    analyser: { readStretch, read: readConversation },
    watcher: { file: ".aider.chat.history.md", reader: () => new HistoryReader() },
  };
}
