/**
 * The language of the lifecycle. An agent's hook payload becomes a `HookEnvelope` (canonical names, the
 * agent's own JSON kept in `raw`) and then an `Event`, or nothing. No code outside agents/ sees agent JSON.
 */
import type { Tokens } from "../transcripts/model.ts";

export type EventType =
  | "SessionStart"
  | "TurnStart"
  | "TurnEnd"
  | "Compaction"
  | "SessionEnd"
  | "SubagentStart"
  | "SubagentEnd"
  | "ToolStart"
  | "ToolEnd";

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

/** What kind of thing a tool does, whatever the agent calls it. Tiers speak only of these. */
export type ToolKind = "write" | "shell" | "task" | "todo" | "read" | "other";

export interface ToolUse {
  kind: ToolKind;
  /** The agent's own name for the tool. */
  name: string;
  id: string | null;
  /** For a shell tool: the command line. */
  command: string | null;
  /** Files that the tool's input names, as given. */
  paths: string[];
}

export interface Event {
  type: EventType;
  sessionId: string;
  /** The session that this one continues under a new id. */
  previousSessionId: string | null;
  /** Where the transcript is, as the agent says. */
  transcriptPath: string | null;
  prompt: string | null;
  timestamp: string;
  model: string | null;
  tool: ToolUse | null;
  subagent: SubagentRef | null;
  /** The agent's last words of this turn, where the payload has them. */
  response: string | null;
  /** A session's start at which the code must be kept, whatever the tier: the agent may not announce its prompts. */
  baseline?: boolean;
  /** What the session has used so far, where the agent keeps a running count instead of one by message. */
  tokensSoFar?: Tokens;
  /** Handed to the session and back to the agent's adapter on later events. */
  metadata: Record<string, string>;
}

export interface SubagentRef {
  id: string;
  type: string | null;
  description: string | null;
  prompt: string | null;
  transcriptPath: string | null;
  /** The tool use of the parent conversation that started it. */
  toolUseId: string | null;
}

/** What is known about where an event comes from, kept per session. */
export interface AgentContext {
  agent: string;
  cwd: string;
  /** What configuration or the agent's project-dir variable says; the git top level is found elsewhere. */
  projectRoot: string | null;
  transcriptPath: string | null;
  sessionId: string | null;
  envFile: string | null;
  /** The agent's process, where it tells: a turn whose process is gone is over. */
  pid: number | null;
}
