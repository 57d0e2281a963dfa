/** What the real Copilot CLI sent and wrote, recorded and shortened. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../../src/agents/event.ts";
import { contextOf, readPayload, toEnvelope, toEvent } from "../../../src/agents/normalise.ts";
import { requireAgent } from "../../../src/agents/registry.ts";

export const copilot = await requireAgent("copilot-cli");

export const transcriptNames: string[] = readdirSync(join(import.meta.dirname, "transcripts"))
  .map((name) => name.replace(/\.jsonl$/, ""))
  .sort();

export function payload(name: string): Record<string, unknown> {
  return readPayload(readFileSync(join(import.meta.dirname, "payloads", `${name}.json`), "utf8"), []);
}

/** The event of a recorded payload, as a hook would see it: the payload itself doesn't say which hook it is. */
export function eventOf(name: string, changes: Record<string, unknown> = {}): Event | null {
  const envelope = toEnvelope(copilot.profile, name.replace(/\..*$/, ""), { ...payload(name), ...changes });
  return toEvent(copilot, envelope, contextOf(copilot.profile, envelope, { env: {}, cwd: "/home/dev" }));
}

export function transcript(name: string): Buffer {
  return readFileSync(join(import.meta.dirname, "transcripts", `${name}.jsonl`));
}

/** The transcript up to and with the line that holds `text`, the first of them. */
export function upTo(name: string, text: string): Buffer {
  const bytes = transcript(name);
  const at = bytes.indexOf(text);
  if (at < 0) throw new Error(`${name} has no ${text}`);
  return bytes.subarray(0, bytes.indexOf(10, at) + 1);
}

export type RecordedLine = Record<string, unknown> & { type: string; id?: string };

export function linesOf(bytes: Uint8Array): RecordedLine[] {
  const text = Buffer.from(bytes).toString("utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RecordedLine);
}

export function jsonl(lines: unknown[]): Buffer {
  return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

if (!copilot.analyser || !copilot.forker || !copilot.preparer || !copilot.hookFile) throw new Error("incomplete");
export const { analyser, forker, preparer, hookFile } = copilot;
