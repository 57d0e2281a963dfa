/**
 * Normalizes an agent's hook payload: payload → HookEnvelope → Event. Nothing here throws on any input,
 * because a hook must never make an agent fail.
 */
import { withoutLeadingHyphen } from "../../base/ids.ts";
import { isRecord } from "../../base/json.ts";
import { logError } from "../../base/log.ts";
import type { AgentContext, Event, HookEnvelope } from "../../model/event.ts";
import type { Agent } from "../contract/agent.ts";
import type { FieldName, Profile } from "../contract/profile.ts";
import { firstAt, textAt } from "./paths.ts";
import { absolutePath, readable } from "./profile-events.ts";

/** Parses the payload from standard input or, if that is empty, from a last argument that looks like JSON. */
export function readPayload(stdin: string, argv: readonly string[]): Record<string, unknown> {
  const text = stdin.trim() === "" ? (argv.at(-1) ?? "") : stdin;
  // Trimming also removes a byte order mark.
  const json = text.trim();
  if (!json.startsWith("{")) return {};
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** `verb` is the name that the hook was installed under. It counts only if the payload names no event. */
export function toEnvelope(profile: Profile, verb: string, raw: Record<string, unknown>): HookEnvelope {
  const text = (field: FieldName) => textAt(raw, profile.hooks?.fields[field]);
  return {
    event: text("event") ?? verb,
    sessionId: text("session_id"),
    cwd: text("cwd"),
    transcriptPath: text("transcript_path"),
    toolName: text("tool_name"),
    toolInput: firstAt(raw, profile.hooks?.fields.tool_input) ?? null,
    raw,
  };
}

export interface ContextInputs {
  env: Readonly<Record<string, string | undefined>>;
  /** The working directory of this process. */
  cwd: string;
  /** Values from the user's configuration that override the hook's. */
  forced?: { projectRoot?: string | undefined; transcriptPath?: string | undefined };
  /** Says whether a transcript may be read. Otherwise the event is recorded without its conversation. */
  mayRead?: (path: string) => boolean;
}

/** The configuration wins over the payload, and the payload over the environment. */
export function contextOf(profile: Profile, envelope: HookEnvelope, inputs: ContextInputs): AgentContext {
  const variable = (names: readonly string[] | undefined): string | null => {
    for (const name of names ?? []) {
      const value = inputs.env[name];
      if (value) return value;
    }
    return null;
  };
  const text = (field: FieldName) => textAt(envelope.raw, profile.hooks?.fields[field]);
  const cwd = absolutePath(envelope.cwd, inputs.cwd) ?? inputs.cwd;
  const projectRoot = inputs.forced?.projectRoot ?? text("project_root") ?? variable(profile.env?.project_dir);
  const forced = absolutePath(inputs.forced?.transcriptPath ?? null, cwd);
  const pid = Number(variable(profile.env?.pid) ?? "");
  return {
    agent: profile.id,
    cwd,
    projectRoot: absolutePath(projectRoot, cwd),
    transcriptPath: forced ?? readable(absolutePath(envelope.transcriptPath, cwd), inputs.mayRead),
    sessionId: envelope.sessionId ?? variable(profile.env?.session_id),
    envFile: absolutePath(text("env_file") ?? variable(profile.env?.env_file), cwd),
    pid: Number.isSafeInteger(pid) && pid > 0 ? pid : null,
    ...(inputs.mayRead ? { mayRead: inputs.mayRead } : {}),
  };
}

/** The event, or null if the lifecycle ignores the hook. Logs an adapter's failure. */
export function toEvent(agent: Agent, envelope: HookEnvelope, context: AgentContext): Event | null {
  try {
    const event = agent.toEvent(envelope, context);
    if (event === null) return null;
    const { sessionId: id, previousSessionId: previous } = event;
    const sessionId = withoutLeadingHyphen(id);
    return { ...event, sessionId, previousSessionId: previous === null ? null : withoutLeadingHyphen(previous) };
  } catch (error) {
    logError(`agents/${agent.profile.id}`, error);
    return null;
  }
}
