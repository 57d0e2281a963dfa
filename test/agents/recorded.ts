/** What the real agents sent and wrote, recorded and shortened: payloads and transcripts, a directory an agent. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../../src/agents/contract/agent.ts";
import { contextOf, readPayload, toEnvelope, toEvent } from "../../src/agents/registry/normalize.ts";
import { requireAgent } from "../../src/agents/registry/registry.ts";
import type { Event } from "../../src/model/event.ts";

type Needed = "analyzer" | "forker" | "preparer" | "responder" | "hookFile";

/** An agent with all the parts that its tests need, and what was recorded of it. */
export type Recorded<Line, Part extends Needed> = {
  agent: Agent;
  payloadNames: string[];
  transcriptNames: string[];
  payload(name: string): Record<string, unknown>;
  /** The event of a payload, as a hook would see it. */
  eventOf(raw: Record<string, unknown>, verb?: string): Event | null;
  transcript(name: string): Buffer;
  /** The transcript as it was before the line that holds `text`, the first of them; and up to and with it. */
  transcriptBefore(name: string, text: string): Buffer;
  upTo(name: string, text: string): Buffer;
  linesOf(bytes: Uint8Array): Line[];
} & { [part in Part]: NonNullable<Agent[part]> };

export async function recordedOf<Line = Record<string, unknown>, Part extends Needed = never>(
  id: string,
  parts: readonly Part[],
): Promise<Recorded<Line, Part>> {
  const agent = await requireAgent(id);
  const missing = parts.filter((part) => agent[part] === undefined);
  if (missing.length > 0) throw new Error(`${id} has no ${missing.join(", ")}`);
  const place = join(import.meta.dirname, id);
  const transcript = (name: string) => readFileSync(join(place, "transcripts", `${name}.jsonl`));
  const found = (name: string, text: string) => {
    const bytes = transcript(name);
    const at = bytes.indexOf(text);
    if (at < 0) throw new Error(`${name} holds no ${text}`);
    return { bytes, at };
  };
  return {
    agent,
    payloadNames: namesIn(join(place, "payloads")),
    transcriptNames: namesIn(join(place, "transcripts")),
    payload: (name) => readPayload(readFileSync(join(place, "payloads", `${name}.json`), "utf8"), []),
    eventOf(raw, verb = "verb") {
      const envelope = toEnvelope(agent.profile, verb, raw);
      return toEvent(agent, envelope, contextOf(agent.profile, envelope, { env: {}, cwd: "/home/dev" }));
    },
    transcript,
    transcriptBefore(name, text) {
      const { bytes, at } = found(name, text);
      return bytes.subarray(0, bytes.lastIndexOf(10, at) + 1);
    },
    upTo(name, text) {
      const { bytes, at } = found(name, text);
      return bytes.subarray(0, bytes.indexOf(10, at) + 1);
    },
    linesOf: (bytes) => linesIn(bytes) as Line[],
    ...(Object.fromEntries(parts.map((part) => [part, agent[part]])) as { [part in Part]: NonNullable<Agent[part]> }),
  };
}

export function jsonl(lines: readonly unknown[]): Buffer {
  return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

function linesIn(bytes: Uint8Array): unknown[] {
  const lines = Buffer.from(bytes).toString("utf8").split("\n");
  return lines.filter((line) => line !== "").map((line): unknown => JSON.parse(line));
}

function namesIn(directory: string): string[] {
  return readdirSync(directory)
    .map((name) => name.replace(/\.jsonl?$/, ""))
    .sort();
}
