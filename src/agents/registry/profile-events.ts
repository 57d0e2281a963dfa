/**
 * Maps payloads to events by the profile alone. An agent without an adapter uses only this; adapters build on it.
 */
import { isAbsolute, resolve } from "node:path";
import { now } from "../../base/clock.ts";
import type {
  AgentContext,
  Event,
  EventType,
  HookEnvelope,
  SubagentRef,
  ToolKind,
  ToolUse,
} from "../../model/event.ts";
import type { Agent } from "../contract/agent.ts";
import type { FieldName, HooksSection, Profile } from "../contract/profile.ts";
import { holds } from "./conditions.ts";
import { firstAt, sameName, textAt, valueAt } from "./paths.ts";

const MAX_METADATA = 200;

/** An agent without an adapter. */
export function profileAgent(profile: Profile): Agent {
  return { profile, toEvent: (envelope, context) => commonEvent(profile, envelope, context) };
}

/** Derives the event from the profile's maps and paths; null if the profile does not map the payload's event. */
export function commonEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const hooks = profile.hooks;
  const type = hooks && eventTypeOf(hooks, envelope);
  const sessionId = envelope.sessionId ?? context.sessionId;
  if (!hooks || !type || !sessionId) return null;
  const subagent = subagentOf(hooks, envelope, context);
  if (subagent === null && (type === "SubagentStart" || type === "SubagentEnd")) return null;
  return {
    type,
    sessionId,
    previousSessionId: text(hooks, envelope, "previous_session_id"),
    transcriptPath: context.transcriptPath,
    prompt: type === "TurnStart" ? proseAt(envelope.raw, hooks.fields.prompt) : null,
    ...(type === "TurnStart" && hasEmptyPrompt(hooks, envelope) ? { emptyPrompt: true } : {}),
    timestamp: timestampOf(hooks, envelope),
    model: text(hooks, envelope, "model"),
    tool: type === "ToolStart" || type === "ToolEnd" ? toolOf(hooks, envelope) : null,
    subagent,
    response: type === "TurnEnd" || type === "SubagentEnd" ? proseAt(envelope.raw, hooks.fields.response) : null,
    metadata: notedOf(type, hooks, envelope),
  };
}

/** What the session remembers of an event. */
function notedOf(type: EventType, hooks: HooksSection, envelope: HookEnvelope): Record<string, string> {
  const { prompt_id, source, error } = hooks.fields;
  const noted: Record<string, string> = {};
  const note = (name: string, paths: readonly string[] | undefined) => {
    const value = paths === undefined ? null : textAt(envelope.raw, paths);
    if (value !== null) noted[name] = value.slice(0, MAX_METADATA);
  };
  if (type === "TurnStart") note("prompt_id", prompt_id);
  else if (type === "SessionStart") note("source", source);
  else if (type === "TurnEnd") note("error", error);
  return noted;
}

/** The first text, or list of blocks with a text. */
function proseAt(root: unknown, paths: readonly string[] | undefined): string | null {
  for (const path of paths ?? []) {
    const value = valueAt(root, path);
    const said = Array.isArray(value) ? blockText(value) : value;
    if (typeof said === "string" && said.trim() !== "") return said;
  }
  return null;
}

function blockText(blocks: readonly unknown[]): string {
  const texts = blocks.map((block) => (typeof block === "string" ? block : (textAt(block, TEXT) ?? "")));
  return texts.filter((text) => text !== "").join("\n");
}

const TEXT = ["$.text"];

/** An empty prompt, unlike a missing one or a picture, is a new round of the same turn. */
/** Where a profile lets a tool's use begin the turn, every other use comes without a prompt, too. */
function hasEmptyPrompt({ fields }: HooksSection, { raw }: HookEnvelope): boolean {
  if (fields.prompt === undefined) return textAt(raw, fields.tool_name) !== null;
  return isEmpty(firstAt(raw, fields.prompt));
}

function isEmpty(prompt: unknown): boolean {
  return prompt === "" || (Array.isArray(prompt) && prompt.length === 0);
}

/** Whether the profile maps an event of this name, even if an adapter then ignores the event. */
export function knowsEvent(profile: Profile, name: string): boolean {
  return profile.hooks !== undefined && meaningOf(profile.hooks, name) !== undefined;
}

/** What the event means in this payload; undefined if the profile ignores it. */
function eventTypeOf(hooks: HooksSection, { event, raw }: HookEnvelope): EventType | undefined {
  const meaning = meaningOf(hooks, event);
  if (meaning === undefined || typeof meaning === "string") return meaning;
  const cases = Array.isArray(meaning) ? meaning : [meaning];
  return cases.find(({ when }) => holds(when, raw))?.is;
}

/** Looks up the event by the agent's name for it, or by the verb of its installed hook. */
function meaningOf(hooks: HooksSection, name: string): HooksSection["events"][string] | undefined {
  for (const native in hooks.events) if (sameName(native, name)) return hooks.events[native];
  for (const native in hooks.install) {
    if (hooks.install[native]?.verb === name)
      return Object.hasOwn(hooks.events, native) ? hooks.events[native] : undefined;
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
    transcriptPath: readable(absolutePath(transcript, context.cwd), context.mayRead),
    toolUseId: text(hooks, envelope, "subagent_tool_use_id"),
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

/** The payload's values at these paths, by name, shortened for storage. */
export function metadataOf(envelope: HookEnvelope, paths: Record<string, string>): Record<string, string> {
  const metadata: Record<string, string> = {};
  for (const [name, path] of Object.entries(paths)) {
    const value = textAt(envelope.raw, [path]);
    if (value !== null) metadata[name] = value.slice(0, MAX_METADATA);
  }
  return metadata;
}

/** Returns the path, or null if the transcript may not be read. */
export function readable(path: string | null, mayRead: AgentContext["mayRead"]): string | null {
  return path === null || mayRead?.(path) === false ? null : path;
}

/** Absolute and usable as a path, or null. */
export function absolutePath(path: string | null, cwd: string): string | null {
  if (!isUsablePath(path)) return null;
  return isAbsolute(path) ? path : resolve(cwd, path);
}

function isUsablePath(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= 4096 && !value.includes("\0");
}
