/** Transcripts in the external-agent protocol. Positions are byte offsets, always after a complete line. */
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { codeOf, UserError } from "../../base/errors.ts";
import { shownPath } from "../../base/text.ts";
import type { TranscriptSlice } from "../../model/conversation.ts";
import { addTokens, NO_TOKENS, type Tokens } from "../../model/tokens.ts";
import { endOfLines } from "../../transcripts/lines.ts";
import type { Agent } from "../contract/agent.ts";
import { toWireTokens, type WireTokens } from "./protocol.ts";

const NEWLINE = 10;
const MAX_BYTES = 1 << 30;
const MAX_SUBAGENTS = 1_000;

/** Returns null if the file does not exist, or throws if it is `needed`. */
export function transcriptAt(root: string, path: string, needed = false): Buffer | null {
  let fd: number;
  try {
    // Opening a pipe could block forever.
    fd = openSync(resolve(root, path), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const code = codeOf(error);
    if (!needed && (code === "ENOENT" || code === "ENOTDIR")) return null;
    throw new UserError("not-found", `${shownPath(path)} cannot be read (${code ?? "unknown"}).`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > MAX_BYTES) {
      throw new UserError("refused", `${shownPath(path)} is not a file that can be read.`);
    }
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function positionOf(bytes: Buffer | null): number {
  return bytes === null ? 0 : endOfLines(bytes);
}

export function modifiedFiles(agent: Agent, bytes: Buffer | null, offset: number) {
  return { files: sliceAt(agent, bytes, offset)?.files ?? [], current_position: positionOf(bytes) };
}

export function promptsIn(agent: Agent, bytes: Buffer | null, offset: number) {
  return { prompts: sliceAt(agent, bytes, offset)?.prompts ?? [] };
}

/** The agent's last answer. */
export function summaryOf(agent: Agent, bytes: Buffer | null) {
  const summary = sliceAt(agent, bytes, 0)?.lastAnswer ?? "";
  return { summary, has_summary: summary !== "" };
}

export function tokensFrom(agent: Agent, bytes: Buffer, offset: number): WireTokens {
  return toWireTokens(sliceAt(agent, bytes, offset)?.tokens ?? NO_TOKENS);
}

export function allFiles(agent: Agent, bytes: Buffer, offset: number, directory: string) {
  const own = sliceAt(agent, bytes, offset)?.files ?? [];
  return { files: [...new Set([...own, ...subagents(agent, directory).flatMap(({ files }) => files)])] };
}

export function totalTokens(agent: Agent, bytes: Buffer, offset: number, directory: string): WireTokens {
  const own = tokensFrom(agent, bytes, offset);
  const others = subagents(agent, directory);
  if (others.length === 0) return own;
  const sum = others.reduce<Tokens>((total, { tokens }) => addTokens(total, tokens), NO_TOKENS);
  return { ...own, subagent_tokens: toWireTokens(sum) };
}

function subagents(agent: Agent, directory: string): TranscriptSlice[] {
  let names: string[];
  try {
    names = readdirSync(directory).sort();
  } catch {
    return [];
  }
  const transcripts = names.filter((name) => name.endsWith(".jsonl")).slice(0, MAX_SUBAGENTS);
  return transcripts.flatMap((name) => sliceAt(agent, transcriptAt(directory, join(directory, name)), 0) ?? []);
}

function sliceAt(agent: Agent, bytes: Buffer | null, offset: number): TranscriptSlice | null {
  if (bytes === null || offset > bytes.length) return null;
  return agent.analyzer?.readSlice(bytes.subarray(offset), offset) ?? null;
}

/** Cuts after the last line that fits. A line longer than a chunk is cut anywhere. Returns at least one chunk. */
export function chunksOf(limit: number, bytes: Buffer): string[] {
  const chunks: string[] = [];
  let start = 0;
  do {
    const most = Math.min(bytes.length, start + limit);
    const line = most === bytes.length ? most : bytes.lastIndexOf(NEWLINE, most - 1) + 1;
    const end = line > start ? line : most;
    chunks.push(bytes.toString("base64", start, end));
    start = end;
  } while (start < bytes.length);
  return chunks;
}

export function reassembled(input: Record<string, unknown>): Buffer {
  const chunks = input["chunks"];
  if (!Array.isArray(chunks) || !chunks.every((chunk): chunk is string => typeof chunk === "string")) {
    throw new UserError("usage", 'Standard input does not contain {"chunks": [base64, …]}.');
  }
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk, "base64")));
}
