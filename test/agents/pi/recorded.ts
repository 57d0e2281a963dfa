/** What our extension in the real Pi sent, and what Pi wrote, recorded and shortened. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../../src/agents/event.ts";
import { contextOf, readPayload, toEnvelope, toEvent } from "../../../src/agents/normalise.ts";
import { requireAgent } from "../../../src/agents/registry.ts";

export const pi = await requireAgent("pi");

export const payloadNames: string[] = readdirSync(join(import.meta.dirname, "payloads"))
  .map((name) => name.replace(/\.json$/, ""))
  .sort();

export function payload(name: string): Record<string, unknown> {
  return readPayload(readFileSync(join(import.meta.dirname, "payloads", `${name}.json`), "utf8"), []);
}

/** The event of a payload, as a hook would see it. */
export function eventOf(raw: Record<string, unknown>): Event | null {
  const envelope = toEnvelope(pi.profile, "verb", raw);
  return toEvent(pi, envelope, contextOf(pi.profile, envelope, { env: {}, cwd: "/home/dev" }));
}

/** Two turns, one that was interrupted, and on another branch one more, a compaction and a last one. */
export const session: Buffer = readFileSync(join(import.meta.dirname, "transcripts/session.jsonl"));

export const SESSION = "01a1e919-98ab-7428-9c2c-40a63de699d5";
export const DIRECTORY = "/home/dev/.pi/agent/sessions/--home-dev-proj--";
export const PATH: string = `${DIRECTORY}/2026-11-17T10-42-11-244Z_${SESSION}.jsonl`;

export interface RecordedLine {
  type: string;
  id: string;
  parentId?: string | null;
  message?: Record<string, unknown> & { role: string };
  [key: string]: unknown;
}

export const lines: readonly RecordedLine[] = linesOf(session);

export function linesOf(bytes: Uint8Array): RecordedLine[] {
  const texts = Buffer.from(bytes).toString("utf8").split("\n");
  return texts.filter((line) => line !== "").map((line) => JSON.parse(line) as RecordedLine);
}

export function bytesOf(given: readonly unknown[]): Buffer {
  return Buffer.from(given.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** Where each line of a prompt begins, on whatever branch. */
export const promptStarts: readonly number[] = lines.flatMap((line, at) =>
  line.message?.role === "user" ? [bytesOf(lines.slice(0, at)).length] : [],
);

if (!pi.analyser || !pi.forker || !pi.responder || !pi.hookFile) throw new Error("incomplete");
export const { analyser, forker, responder, hookFile } = pi;
