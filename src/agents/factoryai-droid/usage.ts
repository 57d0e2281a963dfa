/**
 * Tokens. Droid keeps a running count for the whole session, its subagents' with it, in `<session>.settings.json`
 * beside the transcript; it is up to date whenever a hook runs.
 */
import { statSync } from "node:fs";
import { readJson } from "../../base/files.ts";
import { type Tokens, tokenCount } from "../../transcripts/model.ts";
import { isRecord } from "../profile.ts";

const LARGEST = 4 << 20;

/** Undefined where it isn't told. */
export function tokensSoFar(transcriptPath: string | null): Tokens | undefined {
  if (!transcriptPath?.endsWith(".jsonl")) return undefined;
  const path = `${transcriptPath.slice(0, -".jsonl".length)}.settings.json`;
  try {
    const stat = statSync(path);
    if (!stat.isFile() || stat.size > LARGEST) return undefined;
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
