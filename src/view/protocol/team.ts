/** Protocol of the hub's page: the answers of a team's hub, in place of a machine's server. */
import type { ConversationEntry } from "./sessions.ts";
import type { Tokens, TurnRow } from "./timeline.ts";

/** Who is signed in at the hub. */
export interface TeamMember {
  person: string;
  role: "admin" | "member" | "reader";
}

/** One turn as far as the person may read it. */
export interface TeamTurn {
  turn: TurnRow;
  /** The repository's name, such as `github.com/acme/shop`. */
  repository: string;
  /** The whole prompt; null if it is not shared with the person. */
  prompt: string | null;
  /** Names of the changed files; null if they are not shared with the person. */
  paths: string[] | null;
  checkpoints: string[];
  /** Null if the conversation is not shared with the person. */
  entries: ConversationEntry[] | null;
  /** The session's turns before and after this one. */
  previous: string | null;
  next: string | null;
}

export interface TeamActivity {
  /** Turns that are running, newest first. */
  running: TurnRow[];
  /** Newest day first. */
  days: ActivityOfDay[];
}

export interface ActivityOfDay {
  day: string;
  /** The repository's name, and its id in `repositories`. */
  repository: string;
  repositoryId: string;
  agent: string;
  turns: number;
  people: number;
  files: number;
  undone: number;
  tokens: Tokens;
  usd: number | null;
}
