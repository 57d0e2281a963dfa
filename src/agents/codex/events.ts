/**
 * What Codex's hook payloads mean, beyond what its profile says. Model requests (PreModelRequest,
 * PostModelRequest), PermissionRequest and PostCompact have no meaning for the lifecycle: nothing follows from
 * them that another event doesn't tell.
 */
import { basename } from "node:path";
import { commonEvent, metadataOf } from "../common.ts";
import type { AgentContext, Event, HookEnvelope, SubagentRef, ToolUse } from "../event.ts";
import { patchedPaths } from "../patch.ts";
import { sameName, textAt } from "../paths.ts";
import type { Profile } from "../profile.ts";
import { findRollout, isUsersThread, parentThread } from "./rollouts.ts";

/** The role of a subagent that was started without one. */
const DEFAULT_ROLE = "default";

export function codexEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const event = commonEvent(profile, envelope, context);
  if (event === null) return null;
  if (sameName(envelope.event, "agent-turn-complete")) return notified(event);
  if (event.subagent !== null) return inSubagent(event, event.subagent, envelope);
  switch (event.type) {
    case "SessionStart":
      return started(event, envelope);
    case "SessionEnd":
      return { ...event, metadata: metadataOf(envelope, { reason: "$.reason" }) };
    case "Compaction":
      return { ...event, metadata: metadataOf(envelope, { trigger: "$.trigger" }) };
    case "TurnStart":
      return { ...event, metadata: metadataOf(envelope, { prompt_id: "$.turn_id" }) };
    case "TurnEnd":
      return ended(event, envelope);
    case "ToolStart":
    case "ToolEnd":
      return withTool(event, envelope);
    default:
      // A subagent's event that doesn't say whose.
      return null;
  }
}

function started(event: Event, envelope: HookEnvelope): Event {
  const metadata = metadataOf(envelope, { source: "$.source" });
  const path = event.transcriptPath;
  const previousSessionId = metadata["source"] === "fork" && path !== null ? parentThread(path) : null;
  return { ...event, previousSessionId, metadata };
}

/** A turn that the user breaks off has an event of its own, and no other comes. */
function ended(event: Event, envelope: HookEnvelope): Event {
  const metadata = metadataOf(envelope, { prompt_id: "$.turn_id" });
  if (sameName(envelope.event, "Interrupt")) metadata["error"] = "interrupted";
  return { ...event, metadata };
}

/**
 * The older `notify` tells of every thread: of subagents, and of those that Codex runs to find a title. It
 * counts where the thread has a rollout that a user began.
 */
function notified(event: Event): Event | null {
  const path = findRollout(event.sessionId);
  if (path === null || !isUsersThread(path)) return null;
  return { ...event, transcriptPath: path };
}

/**
 * Hooks inside a subagent carry the id of the session that it belongs to, and, but for its end, the path of the
 * subagent's own rollout. Turns and compactions of its own are no events of the session.
 */
function inSubagent(event: Event, subagent: SubagentRef, envelope: HookEnvelope): Event | null {
  if (!["SubagentStart", "SubagentEnd", "ToolStart", "ToolEnd"].includes(event.type)) return null;
  const path = event.transcriptPath;
  const isOwn = path !== null && basename(path).includes(subagent.id);
  return {
    ...event,
    transcriptPath: isOwn ? null : path,
    tool: toolOf(event, envelope),
    subagent: { ...subagent, transcriptPath: subagent.transcriptPath ?? (isOwn ? path : null) },
  };
}

function withTool(event: Event, envelope: HookEnvelope): Event {
  const tool = toolOf(event, envelope);
  return { ...event, tool, subagent: tool && event.type === "ToolStart" ? announced(tool, envelope) : null };
}

/** Files are named nowhere but in the patch itself. */
function toolOf({ tool }: Event, envelope: HookEnvelope): ToolUse | null {
  if (tool?.kind !== "write") return tool;
  return { ...tool, paths: patchedPaths(textAt(envelope.toolInput, ["$.command"]) ?? "") };
}

/** What a new subagent is to do is said only here: its own rollout may hold it encrypted. */
function announced(tool: ToolUse, envelope: HookEnvelope): SubagentRef | null {
  if (tool.kind !== "task") return null;
  const input = envelope.toolInput;
  return {
    id: tool.id ?? "",
    type: textAt(input, ["$.agent_type"]) ?? DEFAULT_ROLE,
    description: textAt(input, ["$.task_name"]),
    prompt: textAt(input, ["$.message"]),
    transcriptPath: null,
    toolUseId: tool.id,
  };
}
