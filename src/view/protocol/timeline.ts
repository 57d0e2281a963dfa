/** Protocol of `backtrail view`: the repository, its state and its timeline. */
import type { TeamMember } from "./team.ts";

export interface State {
  version: string;
  /** Identifies the server process. */
  instance: string;
  readOnly: boolean;
  /** When the page was exported to a file; null for a page with a server. */
  exportedAt: string | null;
  repository: Repository;
  /** Names of agents for people, by id. */
  agents: Record<string, string>;
  available: { search: boolean; report: boolean; proposals: boolean };
  /** `redo` has something to take back. */
  redo: boolean;
  /** Only on the page of a team's hub. */
  team?: TeamMember;
}

export interface Repository {
  /** Opaque; only valid for this server. */
  id: string;
  /** The last part of the root. */
  name: string;
  root: string;
  kind: "git" | "folder";
  branch: string | null;
  /** Sessions with a turn in progress, and open sessions that wait for a prompt. */
  working: number;
  waiting: number;
  /** Commits whose checkpoints are not written yet. */
  pending: number;
  lastTurn: string | null;
}

export interface TimelineQuery {
  /** `next` of the previous page. */
  before?: string;
  /** At most 200; 50 by default. */
  limit?: string;
  /** Ids separated by commas. */
  agent?: string;
  session?: string;
  fate?: Fate;
  /** `broke`: only turns that broke the check. */
  check?: Check | "broke";
  /** Words in prompts and answers; case does not matter. */
  text?: string;
  /** A pattern as in .gitignore. */
  path?: string;
  /** ISO times. */
  since?: string;
  until?: string;
}

export interface Timeline {
  /** Newest first. */
  items: TimelineItem[];
  /** The lines of history that the items belong to. */
  branches: Branch[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
  /** Changes whenever the first page would. */
  revision: string;
}

/** `kind` tells turns, saved states and operations apart. */
export type TimelineItem = TurnRow | SavedRow | OperationItem;

/** A line of history. `current` leads to the files of the work tree; a rewind ends a `rewound` one. */
export interface Branch {
  id: string;
  kind: "current" | "rewound" | "fork" | "worktree";
  /** The name of the fork or work tree; null for the others. */
  name: string | null;
  /** The item or step at which the branch leaves another one; null if that is not known. */
  from: string | null;
  /** The operation that ended the branch. */
  endedBy: string | null;
}

/** kept: the changes are in the files; undone: taken out by `undo`; rewound: left behind by a rewind. */
export type Fate = "kept" | "undone" | "rewound";
export type Check = "pass" | "fail" | "skip";

export interface LineCounts {
  added: number;
  deleted: number;
}

export interface Tokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export interface Cost {
  usd: number;
  estimated: boolean;
}

export interface FileCounts {
  added: number;
  modified: number;
  deleted: number;
}

export interface TurnRow {
  kind: "turn";
  /** The id of the step that represents the turn: a target for everything. It changes once, when the turn ends. */
  id: string;
  /** Stays the same from the turn's start on. */
  key: string;
  branch: string;
  agent: string;
  /** Who shared the turn; only on the page of a team's hub. */
  person?: string | null;
  session: string;
  /** 1 for the session's first prompt. */
  number: number;
  /** Shortened to 500 characters. */
  prompt: string | null;
  startedAt: string | null;
  endedAt: string | null;
  /** The turn is still running. */
  open: boolean;
  interrupted: boolean;
  fate: Fate;
  files: FileCounts;
  /** The first paths, at most 5. */
  paths: string[];
  /** Null until counted: ask `lines`. */
  lines: LineCounts | null;
  model: string | null;
  tokens: Tokens | null;
  cost: Cost | null;
  check: Check | null;
  /** The check passed before the turn and fails after it. */
  broke?: true;
  /** The commit that contains the turn's changes; null until it is looked for: ask `turnCommits`. */
  commit: string | null;
  /** The first line of the agent's last answer, shortened to 200 characters. */
  answer: string | null;
  /** Names of forks made from this turn. */
  forks: { id: string; name: string }[];
  subagents: SubagentRow[];
  /** Files were changed by hand, or by something unrecorded, before this turn. */
  changedBefore: boolean;
  worktree: string;
}

export interface SubagentRow {
  /** The step of the subagent's end, or its newest step: a target for undo and diff. */
  id: string;
  type: string | null;
  description: string | null;
  ended: boolean;
  fate: Fate;
  files: FileCounts;
  tokens: Tokens | null;
  cost: Cost | null;
  startedAt: string | null;
  endedAt: string | null;
}

/** A state that the user saved, or that was recorded outside of a turn. */
export interface SavedRow {
  kind: "saved";
  id: string;
  branch: string;
  time: string;
  name: string | null;
  agent: string | null;
  session: string | null;
  worktree: string;
}

export interface OperationItem extends OperationRow {
  kind: "operation";
  branch: string;
}

/** A restore: what the user did with Backtrail to the files. */
export interface OperationRow {
  id: string;
  operation: "rewind" | "undo" | "redo" | "take";
  time: string;
  /** The step of a rewind's target, if it was one. */
  target: string | null;
  /** The turns that an undo took out, as ids of timeline items. */
  turns: string[];
  /** The prompt of the first of them; for a redo, of those that it brought back. Null if there is none. */
  prompt: string | null;
  /** The step with everything as it was before. */
  safetyStep: string;
  /** The operation that this one reverted, and the operation that reverted it. */
  reverses: string | null;
  reversedBy: string | null;
}

export interface CommitRow {
  id: string;
  subject: string;
  author: string;
  time: string;
}
