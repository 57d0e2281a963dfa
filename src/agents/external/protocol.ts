/**
 * Types and constants of the external-agent protocol, version 1, for both directions. An agent is a program
 * `entire-agent-<name>` or `backtrail-agent-<name>` that takes a subcommand and flags, and reads and writes JSON;
 * see docs/external-agents.md.
 */

import type { EventType } from "../../model/event.ts";
import type { Tokens } from "../../model/tokens.ts";

export const PROTOCOL_VERSION = 1;

/** The prefixes of program names; ours takes precedence. */
export const PREFIXES = ["backtrail-agent-", "entire-agent-"] as const;

/** An event's number is its position in this list, starting at 1. */
const EVENTS: readonly EventType[] = [
  "SessionStart",
  "TurnStart",
  "TurnEnd",
  "Compaction",
  "SessionEnd",
  "SubagentStart",
  "SubagentEnd",
];

export type CapabilityName =
  | "hooks"
  | "transcript_analyzer"
  | "transcript_preparer"
  | "token_calculator"
  | "text_generator"
  | "hook_response_writer"
  | "subagent_aware_extractor";

export interface Info {
  protocol_version: number;
  name: string;
  type: string;
  description: string;
  is_preview: boolean;
  protected_dirs: string[];
  hook_names: string[];
  capabilities: Partial<Record<CapabilityName, boolean>>;
}

export interface WireSession {
  session_id: string;
  agent_name: string;
  repo_path: string;
  session_ref: string;
  start_time: string;
  /** Base64. */
  native_data: string | null;
  modified_files: string[];
  new_files: string[];
  deleted_files: string[];
}

export interface WireTokens {
  input_tokens: number;
  output_tokens: number;
  cache_creation_tokens: number;
  cache_read_tokens: number;
  subagent_tokens?: WireTokens;
}

/** Null for events without a number in the protocol. */
export function numberOf(type: EventType): number | null {
  const at = EVENTS.indexOf(type);
  return at < 0 ? null : at + 1;
}

export function eventTypeOf(number: unknown): EventType | null {
  return (Number.isInteger(number) && EVENTS[(number as number) - 1]) || null;
}

export function toWireTokens(tokens: Tokens): WireTokens {
  return {
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    cache_creation_tokens: tokens.cacheWrite,
    cache_read_tokens: tokens.cacheRead,
  };
}

/** The agent's name after the prefix; undefined if the program has neither prefix. */
export function agentNameOf(program: string): string | undefined {
  const prefix = PREFIXES.find((candidate) => program.startsWith(candidate));
  const name = prefix && program.slice(prefix.length).replace(/\.exe$/i, "");
  return name || undefined;
}
