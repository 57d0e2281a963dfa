/** What the real Claude Code sent and wrote, recorded and shortened. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../../src/agents/event.ts";
import { contextOf, readPayload, toEnvelope, toEvent } from "../../../src/agents/normalise.ts";
import { requireAgent } from "../../../src/agents/registry.ts";

export const claude = await requireAgent("claude-code");

export const payloadNames: string[] = readdirSync(join(import.meta.dirname, "payloads"))
  .map((name) => name.replace(/\.json$/, ""))
  .sort();

export function payload(name: string): Record<string, unknown> {
  return readPayload(readFileSync(join(import.meta.dirname, "payloads", `${name}.json`), "utf8"), []);
}

/** The event of a payload, as a hook would see it. */
export function eventOf(raw: Record<string, unknown>): Event | null {
  const envelope = toEnvelope(claude.profile, "verb", raw);
  return toEvent(claude, envelope, contextOf(claude.profile, envelope, { env: {}, cwd: "/home/dev" }));
}

export function transcript(name: string): Buffer {
  return readFileSync(join(import.meta.dirname, "transcripts", `${name}.jsonl`));
}

/** The transcript as it was before the line that holds `text`. */
export function transcriptBefore(name: string, text: string): Buffer {
  const bytes = transcript(name);
  const at = bytes.indexOf(text);
  if (at < 0) throw new Error(`${name} holds no ${text}`);
  return bytes.subarray(0, bytes.lastIndexOf(10, at) + 1);
}

export interface RecordedLine {
  type: string;
  uuid?: string;
  sessionId?: string;
  message?: { content?: unknown };
  customTitle?: string;
}

export function linesOf(bytes: Uint8Array): RecordedLine[] {
  const text = Buffer.from(bytes).toString("utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RecordedLine);
}

if (!claude.analyser || !claude.forker || !claude.preparer || !claude.responder) throw new Error("incomplete");
export const { analyser, forker, preparer, responder } = claude;
