/**
 * The Aider adapter. Aider has no hooks; `watch` follows the Markdown file that it writes. Aider can't continue a cut
 * conversation as a separate session, so there is no forker.
 */
import type { Agent } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { analyzerOf } from "../../shared/transcript/analyzer.ts";
import { HistoryReader } from "./events.ts";
import { readEntries } from "./transcript.ts";

export function createAgent(profile: Profile): Agent {
  return {
    profile,
    toEvent: () => null,
    analyzer: analyzerOf(readEntries),
    watcher: { file: ".aider.chat.history.md", reader: () => new HistoryReader() },
  };
}
