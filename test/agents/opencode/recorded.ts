/** What our plugin in the real OpenCode sent and wrote, recorded and shortened. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../../src/agents/event.ts";
import { contextOf, readPayload, toEnvelope, toEvent } from "../../../src/agents/normalise.ts";
import { requireAgent } from "../../../src/agents/registry.ts";

export const openCode = await requireAgent("opencode");

export const payloadNames: string[] = readdirSync(join(import.meta.dirname, "payloads"))
  .map((name) => name.replace(/\.json$/, ""))
  .sort();

export function payload(name: string): Record<string, unknown> {
  return readPayload(readFileSync(join(import.meta.dirname, "payloads", `${name}.json`), "utf8"), []);
}

/** The event of a payload, as a hook would see it. */
export function eventOf(raw: Record<string, unknown>): Event | null {
  const envelope = toEnvelope(openCode.profile, "verb", raw);
  return toEvent(openCode, envelope, contextOf(openCode.profile, envelope, { env: {}, cwd: "/home/dev" }));
}

export function transcript(name: string): Buffer {
  return readFileSync(join(import.meta.dirname, "transcripts", `${name}.jsonl`));
}

export interface RecordedLine {
  type: string;
  late?: boolean;
  info: Record<string, unknown> & { id: string; role?: string };
  parts?: (Record<string, unknown> & { id: string; type: string })[];
}

export function linesOf(bytes: Uint8Array): RecordedLine[] {
  const lines = Buffer.from(bytes).toString("utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as RecordedLine);
}

export function bytesOf(lines: readonly unknown[]): Buffer {
  return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** Where the line of each prompt begins. */
export function promptStarts(bytes: Buffer): number[] {
  const prompts = analyser.read(bytes).entries.filter((entry) => entry.type === "prompt");
  return prompts.map((entry) => entry.start);
}

if (!openCode.analyser || !openCode.forker || !openCode.responder || !openCode.hookFile) throw new Error("incomplete");
export const { analyser, forker, responder, hookFile } = openCode;
