/**
 * Defines lifecycle events. An agent's hook payload becomes a `HookEnvelope` (canonical names, the agent's own JSON in
 * `raw`) and then an `Event` or nothing. No code outside agents/ sees agent JSON.
 */
import type { Tokens } from "./tokens.ts";

export const EVENT_TYPES = [
  "SessionStart",
  "TurnStart",
  "TurnEnd",
  "Compaction",
  "SessionEnd",
  "SubagentStart",
  "SubagentEnd",
  "ToolStart",
  "ToolEnd",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export interface HookEnvelope {
  /** The agent's own name for the event, or the verb it was installed under. */
  event: string;
  sessionId: string | null;
  cwd: string | null;
  transcriptPath: string | null;
  toolName: string | null;
  toolInput: unknown;
  raw: Record<string, unknown>;
}

/** A tool's purpose, independent of the agent's name for it. Tiers refer only to these kinds. */
export const TOOL_KINDS = ["write", "shell", "task", "todo", "read", "other"] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

export interface ToolUse {
  kind: ToolKind;
  /** The agent's own name for the tool. */
  name: string;
  id: string | null;
  /** For a shell tool: the command line. */
  command: string | null;
  /** Files that the tool's input names, unchanged. */
  paths: string[];
}

export interface Event {
  type: EventType;
  sessionId: string;
  /** The session that this one continues under a new id. */
  previousSessionId: string | null;
  /** The transcript's path, as the agent reports it. */
  transcriptPath: string | null;
  prompt: string | null;
  /** The payload has a prompt, and it is empty, or it is a tool's use: a new round of an open turn, which begins no other one. */
  emptyPrompt?: boolean;
  timestamp: string;
  model: string | null;
  tool: ToolUse | null;
  subagent: SubagentRef | null;
  /** The agent's last answer of this turn, if the payload has it. */
  response: string | null;
  /** A session start that must record the code whatever the tier: the agent may not announce its prompts. */
  baseline?: boolean;
  /** The session's token usage so far, if the agent keeps a running count instead of one per message. */
  tokensSoFar?: Tokens;
  /** A message from the agent's adapter to the user, shown through the agent's own reply. */
  message?: string;
  /** Stored with the session and passed to the agent's adapter on later events (`AgentContext.metadata`). */
  metadata: Record<string, string>;
}

export interface SubagentRef {
  id: string;
  type: string | null;
  description: string | null;
  prompt: string | null;
  transcriptPath: string | null;
  /** The tool use in the parent conversation that started the subagent. */
  toolUseId: string | null;
}

/** The origin of an event, kept per session. */
export interface AgentContext {
  agent: string;
  cwd: string;
  /** The root from configuration or the agent's project-dir variable; git's top level is found elsewhere. */
  projectRoot: string | null;
  transcriptPath: string | null;
  sessionId: string | null;
  envFile: string | null;
  /** The agent's process, if reported: a turn is over once its process has ended. */
  pid: number | null;
  /** Whether Backtrail may read a transcript at a path from the payload. */
  mayRead?(path: string): boolean;
  /** The `metadata` of earlier events of this session; read only if an adapter asks. */
  metadata?(sessionId: string): Record<string, string>;
}
