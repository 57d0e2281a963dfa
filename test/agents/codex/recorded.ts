/** What the real Codex sent and wrote, recorded and shortened. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../../src/agents/event.ts";
import { contextOf, readPayload, toEnvelope, toEvent } from "../../../src/agents/normalise.ts";
import { requireAgent } from "../../../src/agents/registry.ts";

export const codex = await requireAgent("codex");

export const transcriptNames: string[] = readdirSync(join(import.meta.dirname, "transcripts"))
  .map((name) => name.replace(/\.jsonl$/, ""))
  .sort();

export function payload(name: string): Record<string, unknown> {
  return readPayload(readFileSync(join(import.meta.dirname, "payloads", `${name}.json`), "utf8"), []);
}

/** The event of a payload, as a hook would see it. */
export function eventOf(raw: Record<string, unknown>): Event | null {
  const envelope = toEnvelope(codex.profile, "verb", raw);
  return toEvent(codex, envelope, contextOf(codex.profile, envelope, { env: {}, cwd: "/home/dev" }));
}

export function transcript(name: string): Buffer {
  return readFileSync(join(import.meta.dirname, "transcripts", `${name}.jsonl`));
}

/** The rollout up to and with the line of that number. */
export function upTo(name: string, ordinal: number): Buffer {
  const bytes = transcript(name);
  const at = bytes.indexOf(`"ordinal":${ordinal},`);
  if (at < 0) throw new Error(`${name} has no line ${ordinal}`);
  return bytes.subarray(0, bytes.indexOf(10, at) + 1);
}

export interface RecordedLine {
  timestamp: string;
  ordinal?: number;
  type: string;
  payload: Record<string, unknown>;
}

export function linesOf(bytes: Uint8Array): RecordedLine[] {
  const text = Buffer.from(bytes).toString("utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RecordedLine);
}

if (!codex.analyser || !codex.forker || !codex.responder) throw new Error("incomplete");
export const { analyser, forker, responder } = codex;
