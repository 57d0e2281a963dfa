/**
 * Maps Droid's hook payloads to events where the profile is not enough. We install no SubagentStop hook: it names no
 * subagent, and the tool that started a subagent reports its work.
 */
import { statSync } from "node:fs";
import { readJson } from "../../../base/fs/files.ts";
import { isRecord } from "../../../base/json.ts";
import type { AgentContext, Event, HookEnvelope } from "../../../model/event.ts";
import { type Tokens, tokenCount } from "../../../model/tokens.ts";
import type { Profile } from "../../contract/profile.ts";
import { sameName, textAt } from "../../registry/paths.ts";
import { commonEvent, metadataOf } from "../../registry/profile-events.ts";
import { parentSession } from "./paths.ts";
import { pathsInPatch } from "./transcript.ts";

const MAX_SETTINGS_BYTES = 4 << 20;
const STOPPED_BY_USER = "Agent stopped by user";

export function droidEvent(profile: Profile, envelope: HookEnvelope, context: AgentContext): Event | null {
  const event = commonEvent(profile, envelope, context);
  if (event === null) return null;
  switch (event.type) {
    case "SessionStart":
      return counted(started(event, envelope));
    case "SessionEnd":
      return { ...event, metadata: metadataOf(envelope, { reason: "$.reason" }) };
    case "Compaction":
      return { ...event, metadata: metadataOf(envelope, { trigger: "$.trigger" }) };
    case "TurnStart":
      return counted({ ...event, metadata: metadataOf(envelope, { prompt_id: "$.message_id" }) });
    case "TurnEnd":
      return sameName(envelope.event, "Notification") ? interrupted(event, envelope) : counted(event);
    default:
      return withTool(event, envelope);
  }
}

/** `droid exec` reports no prompt, so its turn starts with the state at the session's start. */
function started(event: Event, envelope: HookEnvelope): Event {
  const path = event.transcriptPath;
  return {
    ...event,
    previousSessionId: event.previousSessionId ?? (path === null ? null : parentSession(path)),
    baseline: true,
    metadata: metadataOf(envelope, { source: "$.source" }),
  };
}

/** If the user interrupts the model's answer, Droid sends only a notification at the end of the turn. */
function interrupted(event: Event, envelope: HookEnvelope): Event | null {
  const message = textAt(envelope.raw, ["$.message"]);
  return message?.startsWith(STOPPED_BY_USER) ? counted({ ...event, metadata: { error: "interrupted" } }) : null;
}

function counted(event: Event): Event {
  const tokens = tokensSoFar(event.transcriptPath);
  return tokens === undefined ? event : { ...event, tokensSoFar: tokens };
}

/** Only the patch itself names the files. */
function withTool(event: Event, envelope: HookEnvelope): Event {
  const { tool } = event;
  if (tool?.name !== "ApplyPatch") return event;
  return { ...event, tool: { ...tool, paths: pathsInPatch(envelope.toolInput) } };
}

/**
 * Droid keeps a running count for the whole session, including subagents, in `<session>.settings.json` next to the
 * transcript. The count is up to date whenever a hook runs. Undefined if there is none.
 */
function tokensSoFar(transcriptPath: string | null): Tokens | undefined {
  if (!transcriptPath?.endsWith(".jsonl")) return undefined;
  const path = `${transcriptPath.slice(0, -".jsonl".length)}.settings.json`;
  try {
    const stat = statSync(path);
    if (!stat.isFile() || stat.size > MAX_SETTINGS_BYTES) return undefined;
    const settings = readJson(path);
    const usage = isRecord(settings) ? (settings["inclusiveTokenUsage"] ?? settings["tokenUsage"]) : undefined;
    return isRecord(usage) ? tokensOf(usage) : undefined;
  } catch {
    return undefined;
  }
}

function tokensOf(usage: Record<string, unknown>): Tokens {
  return {
    input: tokenCount(usage["inputTokens"]),
    output: tokenCount(usage["outputTokens"]),
    cacheRead: tokenCount(usage["cacheReadTokens"]),
    cacheWrite: tokenCount(usage["cacheCreationTokens"]),
  };
}
