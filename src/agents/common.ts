/**
 * The common shape of hooks: what a profile alone says about a payload. It is the whole of an agent that has
 * no adapter, and what adapters begin with.
 */
import { isAbsolute, resolve } from "node:path";
import { now } from "../base/clock.ts";
import type { Agent } from "./agent.ts";
import type { AgentContext, Event, EventType, HookEnvelope, SubagentRef, ToolKind, ToolUse } from "./event.ts";
import { firstAt, sameName, textAt } from "./paths.ts";
import type { FieldName, HooksSection, Profile } from "./profile.ts";

const LONGEST_METADATA = 200;

/** An agent that is nothing but its profile. */
export function profileAgent(profile: Profile): Agent {
  return { profile, toEvent: (envelope, context) => commonEvent(profile, envelope, context) };
}

/** The event that the profile's maps and paths make of a payload; null where they give it no meaning. */
export function commonEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const hooks = profile.hooks;
  const type = hooks && eventTypeOf(hooks, envelope.event);
  const sessionId = envelope.sessionId ?? context.sessionId;
  if (!hooks || !type || !sessionId) return null;
  return {
    type,
    sessionId,
    previousSessionId: text(hooks, envelope, "previous_session_id"),
    transcriptPath: context.transcriptPath,
    prompt: type === "TurnStart" ? text(hooks, envelope, "prompt") : null,
    timestamp: timestampOf(hooks, envelope),
    model: text(hooks, envelope, "model"),
    tool: type === "ToolStart" || type === "ToolEnd" ? toolOf(hooks, envelope) : null,
    subagent: subagentOf(hooks, envelope, context),
    response: type === "TurnEnd" || type === "SubagentEnd" ? text(hooks, envelope, "response") : null,
    metadata: {},
  };
}

/** Whether the profile gives an event of this name a meaning, be it one that an adapter then sets aside. */
export function knowsEvent(profile: Profile, name: string): boolean {
  return profile.hooks !== undefined && eventTypeOf(profile.hooks, name) !== undefined;
}

/** By the agent's own name for the event, or by the verb that it was installed under. */
function eventTypeOf(hooks: HooksSection, name: string): EventType | undefined {
  for (const [native, type] of Object.entries(hooks.events)) {
    if (sameName(native, name)) return type;
  }
  for (const [native, installed] of Object.entries(hooks.install)) {
    if (installed.verb === name) return Object.hasOwn(hooks.events, native) ? hooks.events[native] : undefined;
  }
  return undefined;
}

function toolOf(hooks: HooksSection, envelope: HookEnvelope): ToolUse | null {
  const name = envelope.toolName;
  if (name === null) return null;
  const kind: ToolKind = (Object.hasOwn(hooks.tools, name) ? hooks.tools[name] : undefined) ?? "other";
  return {
    kind,
    name,
    id: text(hooks, envelope, "tool_use_id"),
    command: kind === "shell" ? text(hooks, envelope, "tool_command") : null,
    paths: kind === "write" ? pathsOf(hooks, envelope) : [],
  };
}

function pathsOf(hooks: HooksSection, envelope: HookEnvelope): string[] {
  const found = new Set<string>();
  for (const path of hooks.fields.tool_paths ?? []) {
    const value = firstAt(envelope.raw, [path]);
    for (const item of Array.isArray(value) ? value : [value]) {
      if (isUsablePath(item)) found.add(item);
    }
  }
  return [...found];
}

function subagentOf(hooks: HooksSection, envelope: HookEnvelope, context: AgentContext): SubagentRef | null {
  const id = text(hooks, envelope, "subagent_id");
  if (id === null) return null;
  const transcript = text(hooks, envelope, "subagent_transcript_path");
  return {
    id,
    type: text(hooks, envelope, "subagent_type"),
    description: text(hooks, envelope, "subagent_description"),
    prompt: text(hooks, envelope, "subagent_prompt"),
    transcriptPath: absolutePath(transcript, context.cwd),
    toolUseId: null,
  };
}

function timestampOf(hooks: HooksSection, envelope: HookEnvelope): string {
  const given = text(hooks, envelope, "timestamp");
  const date = given === null ? now() : new Date(given);
  return (Number.isNaN(date.getTime()) ? now() : date).toISOString();
}

function text(hooks: HooksSection, envelope: HookEnvelope, field: FieldName): string | null {
  return textAt(envelope.raw, hooks.fields[field]);
}

/** What a payload says at these paths, by name, cut to a length that is fit to be kept. */
export function metadataOf(envelope: HookEnvelope, paths: Record<string, string>): Record<string, string> {
  const metadata: Record<string, string> = {};
  for (const [name, path] of Object.entries(paths)) {
    const value = textAt(envelope.raw, [path]);
    if (value !== null) metadata[name] = value.slice(0, LONGEST_METADATA);
  }
  return metadata;
}

/** Absolute and usable as a path, or null. */
export function absolutePath(path: string | null, cwd: string): string | null {
  if (!isUsablePath(path)) return null;
  return isAbsolute(path) ? path : resolve(cwd, path);
}

function isUsablePath(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 4096 && !value.includes("\0");
}
