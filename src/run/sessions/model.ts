/** Defines a session as `sessions` shows it, merged from a run's log, the recorded steps and an import. */
import type { Tokens } from "../../model/tokens.ts";
import type { Cost } from "../../transcripts/prices.ts";
import { END_STATUSES, type RunStatus } from "../log/records.ts";

export type SessionStatus = RunStatus | "waiting";
export const STATUSES: readonly SessionStatus[] = ["running", "waiting", ...END_STATUSES];

export interface SessionNode {
  id: string;
  /** The agent's id in the registry. */
  agent: string;
  status: SessionStatus;
  /** Set even if the parent is otherwise unknown. */
  parent: string | null;
  /** The first prompt. */
  prompt: string;
  model: string | null;
  tags: string[];
  startedAt: string | null;
  updatedAt: string;
  turns: number;
  /** The number of recorded steps; 0 if there is nothing to rewind to. */
  steps: number;
  tokens: Tokens | null;
  cost: Cost | null;
  worktree: string | null;
  log: { path: string; agent: string } | null;
  recorded: boolean;
  imported: boolean;
  tasks: SessionTask[];
  /** In the order they started. */
  children: SessionNode[];
}

/** A subagent of a recorded session. */
export interface SessionTask {
  id: string;
  type: string | null;
  description: string | null;
  turn: number;
  /** The step at which the subagent ended, or its newest step so far. */
  step: string;
  ended: boolean;
  files: number;
}

export function inOrder(nodes: readonly SessionNode[]): SessionNode[] {
  return nodes.flatMap((node) => [node, ...inOrder(node.children)]);
}
