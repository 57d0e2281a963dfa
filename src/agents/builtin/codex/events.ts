/**
 * Maps Codex's hook payloads to events where the profile is not enough. Ignores model requests (PreModelRequest,
 * PostModelRequest), PermissionRequest and PostCompact, because other events report everything the lifecycle needs.
 */
import { basename } from "node:path";
import type { AgentContext, Event, HookEnvelope, SubagentRef, ToolUse } from "../../../model/event.ts";
import type { Profile } from "../../contract/profile.ts";
import { sameName, textAt } from "../../registry/paths.ts";
import { commonEvent, metadataOf } from "../../registry/profile-events.ts";
import { patchedPaths } from "../../shared/patch.ts";
import { findRollout, isUsersThread, parentThread, storesRollouts } from "./paths.ts";

/** The role of a subagent started without a role. */
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
      // A subagent's event that does not name the subagent.
      return null;
  }
}

function started(event: Event, envelope: HookEnvelope): Event {
  const metadata = metadataOf(envelope, { source: "$.source" });
  const path = event.transcriptPath;
  const parent = metadata["source"] === "fork" && path !== null ? parentThread(path) : null;
  return { ...event, previousSessionId: event.previousSessionId ?? parent, metadata };
}

/** An interrupted turn has a separate event, and no other end event follows. */
function ended(event: Event, envelope: HookEnvelope): Event {
  const metadata = metadataOf(envelope, { prompt_id: "$.turn_id" });
  if (sameName(envelope.event, "Interrupt")) metadata["error"] = "interrupted";
  return { ...event, metadata };
}

/**
 * The older `notify` reports every thread, including subagents and those that Codex runs to find a title. A thread
 * counts if it has a rollout that a user started. If Codex stores no rollouts at all, every thread is recorded, code
 * only.
 */
function notified(event: Event): Event | null {
  const path = findRollout(event.sessionId);
  const counts = path === null ? !storesRollouts() : isUsersThread(path);
  return counts ? { ...event, transcriptPath: path } : null;
}

/**
 * Hooks inside a subagent carry the id of the parent session and, except for the subagent's end, the path of the
 * subagent's rollout. The subagent's own turns and compactions are not events of the session.
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

/** Only the patch itself names the files. */
function toolOf({ tool }: Event, envelope: HookEnvelope): ToolUse | null {
  if (tool?.kind !== "write") return tool;
  return { ...tool, paths: patchedPaths(textAt(envelope.toolInput, ["$.command"]) ?? "") };
}

/** Only this event reports a new subagent's task; the subagent's rollout may contain it encrypted. */
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
