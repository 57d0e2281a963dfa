/** Protocol of `backtrail view`: sessions, runs, commits and forks. */
import type { ChangedFile } from "./files.ts";
import type { CommitRow, Cost, Fate, LineCounts, Tokens } from "./timeline.ts";

export interface SessionRow {
  id: string;
  agent: string;
  status: "running" | "waiting" | "completed" | "failed" | "interrupted" | "timed-out" | "over-budget";
  parent: string | null;
  /** The first prompt, shortened to 500 characters. */
  prompt: string;
  model: string | null;
  tags: string[];
  startedAt: string | null;
  updatedAt: string;
  turns: number;
  /** 0 if there is nothing to rewind to. */
  steps: number;
  tokens: Tokens | null;
  cost: Cost | null;
  worktree: string | null;
  /** The session was a run and has a log: `runLog`. */
  log: boolean;
  recorded: boolean;
  imported: boolean;
  subagents: SubagentOfSession[];
  children: SessionRow[];
}

interface SubagentOfSession {
  id: string;
  type: string | null;
  description: string | null;
  /** The number of the turn that started it, and its newest step. */
  number: number;
  step: string;
  ended: boolean;
  files: number;
}

export interface SessionDetails {
  session: SessionRow;
  title: string | null;
  turns: SessionTurn[];
  /** Index of `conversation` entries at which the agent compacted its context. */
  compactions: number[];
  /** Number of entries of `conversation`; null if the conversation cannot be read. */
  entries: number | null;
  /** Why the conversation cannot be read, for people. */
  problem: string | null;
  /** The command that continues the session in a terminal. */
  resume: string | null;
}

/** One prompt of the session, to jump to. */
export interface SessionTurn {
  number: number;
  prompt: string | null;
  /** The turn's step; null if it is not recorded. */
  id: string | null;
  /** Index of the prompt in `conversation`; null if it is not there. */
  entry: number | null;
  startedAt: string | null;
  endedAt: string | null;
  fate: Fate | null;
  tokens: Tokens | null;
  cost: Cost | null;
  /** Tokens in the model's context at the end of the turn, as far as the agent reports it. */
  context: number | null;
}

export interface ConversationPage {
  entries: ConversationEntry[];
  total: number;
  next: number | null;
}

export interface ConversationEntry {
  index: number;
  type: "prompt" | "answer" | "thinking" | "tool-use" | "tool-result" | "compaction" | "note";
  time: string | null;
  /** The number of the turn, 0 before the first prompt. */
  number: number;
  /** Markdown of a prompt or an answer, or a tool's output. Shortened to 16,000 characters; `entry` has the whole. */
  text: string;
  shortened: boolean;
  tool: { name: string; id: string | null; title: string; input: string } | null;
  /** The result of a tool that reports a failure. */
  failed?: true;
}

export interface RunLog {
  id: string;
  running: boolean;
  moments: RunMoment[];
  next: number;
  /** There is more to read at once. */
  more: boolean;
}

export interface RunMoment {
  kind: "prompt" | "answer" | "tool" | "output" | "failure" | "note";
  name: string | null;
  text: string;
}

export interface Commits {
  commits: (CommitRow & { sessions: CommitSession[] })[];
  next: string | null;
}

export interface CommitSession {
  checkpoint: string;
  session: string;
  agent: string;
  prompts: string[];
  files: number;
  /** The session is recorded here too, so that it can be opened. */
  here: boolean;
}

export interface CommitDetails {
  commit: CommitRow & { body: string; parents: string[] };
  sessions: CommitSession[];
  files: ChangedFile[];
  /** Checkpoints that could not be read, as sentences. */
  problems: string[];
}

export interface ForkRow {
  id: string;
  name: string;
  kind: "worktree" | "branch" | "directory";
  state: "making" | "ready" | "dropping";
  time: string;
  /** The step that it came from; null for a commit. */
  from: string | null;
  prompt: string | null;
  branch: string | null;
  directory: string | null;
  command: string | null;
}

export interface ForkComparison {
  fork: ForkRow;
  /** The work tree that the fork came from. */
  original: Attempt;
  /** Null if the fork's files are gone; `problem` says why. */
  attempt: Attempt | null;
  problem: string | null;
}

export interface Attempt {
  /** A state for `changes` and `fileDiff`: `from` the fork's base, `to` this. */
  base: string;
  state: string;
  files: { added: string[]; modified: string[]; deleted: string[] };
  lines: LineCounts;
  turns: number;
  tokens: Tokens | null;
  cost: Cost | null;
  seconds: number;
}
