/** The tool calls of a turn: paired with their results, timed, and laid out in lanes. */
import { getAgent } from "../../../../agents/registry/registry.ts";
import type { Entry } from "../../../../model/conversation.ts";
import type { Step } from "../../../../model/step.ts";
import type { ToolCall } from "../../../protocol.ts";
import { inputText, toolKind, toolTitle } from "../../repository/conversations.ts";
import type { Redaction } from "../../repository/redaction.ts";

const SHOWN_LENGTH = 2_000;

/** A use and its result; `id` is the agent's id for the call, or its place in the turn. */
export interface PairedCall {
  id: string;
  use: Entry;
  result: Entry | null;
}

export function pairedCalls(entries: readonly Entry[]): PairedCall[] {
  const results = new Map<string, Entry>();
  for (const entry of entries)
    if (entry.type === "tool-result" && entry.toolUseId !== null) results.set(entry.toolUseId, entry);
  return entries.flatMap((use, place) => {
    if (use.type !== "tool-use") return [];
    return { id: use.toolUseId ?? `#${place}`, use, result: results.get(use.toolUseId ?? "") ?? null };
  });
}

export async function toolCalls(
  agentId: string,
  entries: readonly Entry[],
  steps: readonly Step[],
  redaction: Redaction,
  root: string,
): Promise<ToolCall[]> {
  const agent = await getAgent(agentId);
  const subagents = new Map(
    steps.flatMap((step) => (step.subagent && step.toolUseId ? [[step.toolUseId, step.id]] : [])),
  );
  const calls = pairedCalls(entries).map(({ id, use, result }): ToolCall => {
    const input = redaction.text(inputText(use.toolInput));
    const output = result === null ? null : redaction.text(result.text);
    const milliseconds = between(use.time, result?.time ?? null);
    return {
      id,
      name: use.toolName ?? "tool",
      kind: toolKind(agent, use.toolName),
      title: redaction.text(toolTitle(use.toolName, use.toolInput, root)),
      startedAt: use.time,
      endedAt: result?.time ?? null,
      milliseconds,
      lane: 0,
      failed: result?.failed ?? false,
      input: input.slice(0, SHOWN_LENGTH),
      output: output?.slice(0, SHOWN_LENGTH) ?? null,
      shortened: input.length > SHOWN_LENGTH || (output?.length ?? 0) > SHOWN_LENGTH,
      files: [...new Set([...use.files, ...(result?.files ?? [])])],
      subagent: subagents.get(id) ?? null,
    };
  });
  return inLanes(calls);
}

function between(from: string | null, to: string | null): number | null {
  const milliseconds = from === null || to === null ? Number.NaN : Date.parse(to) - Date.parse(from);
  return Number.isNaN(milliseconds) ? null : Math.max(0, milliseconds);
}

/** Gives each call the first lane that was free when the call began. */
function inLanes<T extends Pick<ToolCall, "startedAt" | "endedAt" | "lane">>(calls: readonly T[]): T[] {
  const freeFrom: number[] = [];
  return calls.map((call) => {
    if (call.startedAt === null) return call;
    const start = Date.parse(call.startedAt);
    const end = call.endedAt === null ? start : Date.parse(call.endedAt);
    const free = freeFrom.findIndex((time) => time <= start);
    const lane = free === -1 ? freeFrom.length : free;
    freeFrom[lane] = Math.max(end, start);
    return { ...call, lane };
  });
}
