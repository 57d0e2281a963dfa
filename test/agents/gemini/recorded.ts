/** What the real Gemini CLI sent and wrote, recorded and shortened. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../../src/agents/event.ts";
import { contextOf, readPayload, toEnvelope, toEvent } from "../../../src/agents/normalise.ts";
import { requireAgent } from "../../../src/agents/registry.ts";

export const gemini = await requireAgent("gemini");

export const payloadNames: string[] = readdirSync(join(import.meta.dirname, "payloads"))
  .map((name) => name.replace(/\.json$/, ""))
  .sort();

export function payload(name: string): Record<string, unknown> {
  return readPayload(readFileSync(join(import.meta.dirname, "payloads", `${name}.json`), "utf8"), []);
}

/** The event of a payload, as a hook would see it. */
export function eventOf(raw: Record<string, unknown>): Event | null {
  const envelope = toEnvelope(gemini.profile, "verb", raw);
  return toEvent(gemini, envelope, contextOf(gemini.profile, envelope, { env: {}, cwd: "/home/dev" }));
}

export function transcript(name: string): Buffer {
  return readFileSync(join(import.meta.dirname, "transcripts", `${name}.jsonl`));
}

/** The transcript as it was before the line that holds `text` for the first time. */
export function transcriptBefore(name: string, text: string): Buffer {
  const bytes = transcript(name);
  const at = bytes.indexOf(text);
  if (at < 0) throw new Error(`${name} holds no ${text}`);
  return bytes.subarray(0, bytes.lastIndexOf(10, at) + 1);
}

export interface RecordedLine {
  id?: string;
  sessionId?: string;
  summary?: string;
  type?: string;
  content?: unknown;
}

export function linesOf(bytes: Uint8Array): RecordedLine[] {
  const lines = Buffer.from(bytes).toString("utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as RecordedLine);
}

export function jsonl(lines: unknown[]): Buffer {
  return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

if (!gemini.analyser || !gemini.forker || !gemini.responder) throw new Error("incomplete");
export const { analyser, forker, responder } = gemini;
