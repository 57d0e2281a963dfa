/**
 * Subagents of Claude Code write a transcript of their own, `<session>/subagents/agent-<id>.jsonl` beside the
 * session's, and next to it `agent-<id>.meta.json`, which names the tool use that started them.
 */
import { statSync } from "node:fs";
import { readJson } from "../../base/files.ts";
import { firstLine } from "../../transcripts/file-bytes.ts";
import type { SubagentRef } from "../event.ts";
import { textAt } from "../paths.ts";

const HEAD_BYTES = 64 * 1024;

export function subagentTranscript(sessionTranscript: string | null, id: string): string | null {
  if (!sessionTranscript?.endsWith(".jsonl") || !/^[A-Za-z0-9_-]{1,128}$/.test(id)) return null;
  return `${sessionTranscript.slice(0, -".jsonl".length)}/subagents/agent-${id}.jsonl`;
}

/** Completed by what the subagent's own files say; what can't be read stays unknown. */
export function describeSubagent(subagent: SubagentRef): SubagentRef {
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

/** A subagent's transcript begins with what it was asked. */
function firstPrompt(path: string): string | null {
  try {
    const line: unknown = JSON.parse(firstLine(path, HEAD_BYTES));
    return textAt(line, ["$.message.content"]);
  } catch {
    return null;
  }
}
