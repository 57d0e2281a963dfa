/** Maps Claude Code's hook payloads to events where the profile is not enough. */
import { existsSync, statSync } from "node:fs";
import { readJson } from "../../../base/fs/files.ts";
import type { AgentContext, Event, HookEnvelope, SubagentRef, ToolUse } from "../../../model/event.ts";
import { firstLine } from "../../../transcripts/file-bytes.ts";
import type { Profile } from "../../contract/profile.ts";
import { textAt } from "../../registry/paths.ts";
import { commonEvent, metadataOf } from "../../registry/profile-events.ts";
import { subagentTranscript } from "./paths.ts";
import { promptText } from "./transcript.ts";

const MAX_HEAD_BYTES = 64 * 1024;

export function claudeEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const event = commonEvent(profile, envelope, context);
  if (event === null) return null;
  switch (event.type) {
    case "SessionStart":
      return { ...event, metadata: metadataOf(envelope, { source: "$.source" }) };
    case "SessionEnd":
      return { ...event, metadata: metadataOf(envelope, { reason: "$.reason" }) };
    case "Compaction":
      return { ...event, metadata: metadataOf(envelope, { trigger: "$.trigger" }) };
    case "TurnStart":
      return {
        ...event,
        prompt: promptText(event.prompt ?? ""),
        metadata: metadataOf(envelope, { prompt_id: "$.prompt_id" }),
      };
    case "TurnEnd":
      return { ...event, metadata: metadataOf(envelope, { prompt_id: "$.prompt_id", error: "$.error" }) };
    case "SubagentStart":
    case "SubagentEnd":
      return subagentEvent(event, envelope);
    default:
      return toolEvent({ ...event, subagent: withTranscript(event.subagent, event.transcriptPath) }, envelope);
  }
}

/** Only the tool use that starts a subagent reports the subagent's task; the start and end events do not. */
function toolEvent(event: Event, envelope: HookEnvelope): Event {
  const { tool } = event;
  if (tool?.kind !== "task" || event.subagent !== null) return event;
  // The end of a tool that launched a background subagent is not the subagent's end.
  if (event.type === "ToolEnd") {
    const isLaunched = textAt(envelope.raw, ["$.tool_response.status"]) === "async_launched";
    return isLaunched ? { ...event, tool: { ...tool, kind: "other" } } : event;
  }
  return { ...event, subagent: announcedSubagent(tool, envelope.toolInput) };
}

function announcedSubagent({ id }: ToolUse, input: unknown): SubagentRef {
  return {
    id: id ?? "",
    type: textAt(input, ["$.subagent_type"]),
    description: textAt(input, ["$.description"]),
    prompt: textAt(input, ["$.prompt"]),
    transcriptPath: null,
    toolUseId: id,
  };
}

/** Hooks inside a subagent name the subagent, but not its transcript. */
function withTranscript(subagent: SubagentRef | null, sessionTranscript: string | null): SubagentRef | null {
  if (subagent === null || subagent.transcriptPath !== null) return subagent;
  return { ...subagent, transcriptPath: subagentTranscript(sessionTranscript, subagent.id) };
}

/**
 * `/compact` runs an internal subagent, which has an empty type and a transcript that never exists. Its events are
 * ignored.
 */
function subagentEvent(event: Event, envelope: HookEnvelope): Event | null {
  const subagent = withTranscript(event.subagent, event.transcriptPath);
  if (subagent === null) return null;
  const path = subagent.transcriptPath;
  if (subagent.type === null && (path === null || !existsSync(path))) return null;
  return {
    ...event,
    // The subagent's files do not exist yet when it starts.
    subagent: event.type === "SubagentEnd" ? describeSubagent(subagent) : subagent,
    metadata: metadataOf(envelope, { prompt_id: "$.prompt_id" }),
  };
}

/**
 * Adds facts from the subagent's files: its transcript, and next to it `agent-<id>.meta.json`, which names the tool use
 * that started it. Facts that can't be read stay unknown.
 */
function describeSubagent(subagent: SubagentRef): SubagentRef {
  const path = subagent.transcriptPath;
  if (!path?.endsWith(".jsonl")) return subagent;
  const meta = metaOf(path);
  return {
    ...subagent,
    type: subagent.type ?? textAt(meta, ["$.agentType"]),
    description: subagent.description ?? textAt(meta, ["$.description"]),
    toolUseId: subagent.toolUseId ?? textAt(meta, ["$.toolUseId"]),
    prompt: subagent.prompt ?? firstPrompt(path),
  };
}

function metaOf(path: string): unknown {
  const file = `${path.slice(0, -".jsonl".length)}.meta.json`;
  try {
    return statSync(file).isFile() ? readJson(file) : undefined;
  } catch {
    return undefined;
  }
}

/** A subagent's transcript starts with its prompt. */
function firstPrompt(path: string): string | null {
  try {
    const line: unknown = JSON.parse(firstLine(path, MAX_HEAD_BYTES));
    return textAt(line, ["$.message.content"]);
  } catch {
    return null;
  }
}
