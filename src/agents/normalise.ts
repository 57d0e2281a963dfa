/**
 * From what an agent sends to what the lifecycle understands: payload → HookEnvelope → Event. Nothing here
 * throws, whatever comes in: a hook must never fail an agent.
 */
import { logError } from "../base/log.ts";
import type { Agent } from "./agent.ts";
import { absolutePath } from "./common.ts";
import type { AgentContext, Event, HookEnvelope } from "./event.ts";
import { firstAt, textAt } from "./paths.ts";
import { type FieldName, isRecord, type Profile } from "./profile.ts";

/** The payload: standard input, or the last argument when that is empty and the argument looks like JSON. */
export function readPayload(stdin: string, argv: readonly string[]): Record<string, unknown> {
  const text = stdin.trim() === "" ? (argv.at(-1) ?? "") : stdin;
  // Trimming takes a byte order mark away as well.
  const json = text.trim();
  if (!json.startsWith("{")) return {};
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** `verb` is the name that the hook was installed under; it counts where the payload names no event. */
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
  /** The process's own working directory. */
  cwd: string;
  /** What the user's configuration fixes, whatever a hook says. */
  forced?: { projectRoot?: string | undefined; transcriptPath?: string | undefined };
}

/** Configuration first, then the payload, then the environment. */
export function contextOf(profile: Profile, envelope: HookEnvelope, inputs: ContextInputs): AgentContext {
  const variable = (names: readonly string[] | undefined): string | null => {
    for (const name of names ?? []) {
      const value = inputs.env[name];
      if (value) return value;
    }
    return null;
  };
  const cwd = absolutePath(envelope.cwd, inputs.cwd) ?? inputs.cwd;
  const projectRoot =
    inputs.forced?.projectRoot ??
    textAt(envelope.raw, profile.hooks?.fields.project_root) ??
    variable(profile.env?.project_dir);
  const pid = Number(variable(profile.env?.pid) ?? "");
  return {
    agent: profile.id,
    cwd,
    projectRoot: absolutePath(projectRoot, cwd),
    transcriptPath: absolutePath(inputs.forced?.transcriptPath ?? envelope.transcriptPath, cwd),
    sessionId: envelope.sessionId ?? variable(profile.env?.session_id),
    envFile: absolutePath(variable(profile.env?.env_file), cwd),
    pid: Number.isSafeInteger(pid) && pid > 0 ? pid : null,
  };
}

/** The event, or null where the hook means nothing for the lifecycle. An adapter's failure is logged. */
export function toEvent(agent: Agent, envelope: HookEnvelope, context: AgentContext): Event | null {
  try {
    return agent.toEvent(envelope, context);
  } catch (error) {
    logError(`agents/${agent.profile.id}`, error);
    return null;
  }
}
