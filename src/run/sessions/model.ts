/** A session as `sessions` knows it, whatever told of it: a run's log, the recorded steps, an import, or several of these. */
import type { Tokens } from "../../transcripts/model.ts";
import type { Cost } from "../../transcripts/prices.ts";
import { END_STATUSES, type RunStatus } from "../records.ts";

export type SessionStatus = RunStatus | "waiting";
export const STATUSES: readonly SessionStatus[] = ["running", "waiting", ...END_STATUSES];

export interface SessionNode {
  id: string;
  /** The registry's name. */
  agent: string;
  status: SessionStatus;
  /** Also where nothing else is known of it. */
  parent: string | null;
  /** The first one. */
  prompt: string;
  model: string | null;
  tags: string[];
  startedAt: string | null;
  updatedAt: string;
  turns: number;
  /** Recorded ones: 0 where there is nothing to go back to. */
  steps: number;
  tokens: Tokens | null;
  cost: Cost | null;
  worktree: string | null;
  /** The run's log. */
  log: { path: string; agent: string } | null;
  recorded: boolean;
  imported: boolean;
  tasks: SessionTask[];
  /** In the order in which they began. */
  children: SessionNode[];
}

/** A subagent of a recorded session. */
export interface SessionTask {
  id: string;
  type: string | null;
  description: string | null;
  turn: number;
  /** Where it ended, or as far as it got. */
  step: string;
  ended: boolean;
  files: number;
}

export function inOrder(nodes: readonly SessionNode[]): SessionNode[] {
  return nodes.flatMap((node) => [node, ...inOrder(node.children)]);
}
