/** Protocol of the exported page: what `export --format html` writes into the file, in the place of a server. */
import type { Changes, FileDiff } from "./files.ts";
import type { ConversationEntry, SessionDetails } from "./sessions.ts";
import type { Branch, State, TurnRow } from "./timeline.ts";
import type { TurnDetails } from "./turn.ts";

export interface ExportedData {
  v: 1;
  state: State;
  /** The first one is the session that was exported; the others are below it. */
  sessions: ExportedSession[];
  /** Newest first. */
  turns: ExportedTurn[];
  branches: Branch[];
  /** By the id of a turn or of a subagent's step. */
  changes: Record<string, ExportedChanges>;
}

export interface ExportedSession {
  details: SessionDetails;
  /** The conversation, with whole texts. */
  entries: ConversationEntry[];
}

export interface ExportedTurn {
  row: TurnRow;
  details: TurnDetails;
}

export interface ExportedChanges {
  changes: Changes;
  /** In the order of the files in `changes`. */
  diffs: FileDiff[];
}
