/**
 * The hook of a recording: stores what the agent sent, redacted. It does nothing unless a recording is under way, and
 * never makes an agent fail.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../../base/clock.ts";
import { appendLine, readJson, writeFileAtomic } from "../../../base/fs/files.ts";
import { sizeOnDisk } from "../../../base/fs/tree-size.ts";
import { isRecord } from "../../../base/json.ts";
import { readInput } from "../../../base/process/stdin.ts";
import { PlaceholderTable } from "../../../transcripts/redact/placeholders.ts";
import { createRedactor } from "../../../transcripts/redact/redactor.ts";
import { isAgentId } from "../../contract/profile.ts";
import { readPayload } from "../../registry/normalize.ts";
import { MAX_CALLS, MAX_PAYLOAD_BYTES, MAX_PAYLOADS_BYTES, type RecordedCall, recordingsDirectory } from "./format.ts";

const MAX_VARIABLES = 60;
const MAX_DEPTH = 3;

/** `active.json` beside the recordings of an agent, while one of them is under way. */
export interface ActiveRecording {
  directory: string;
  /** The names of the variables that the user's shell sets anyway. */
  environment: string[];
}

export function activeRecording(id: string): ActiveRecording | undefined {
  const value = readJson(activeFile(id));
  if (!isRecord(value) || typeof value["directory"] !== "string") return undefined;
  const names = Array.isArray(value["environment"]) ? value["environment"].filter(isText) : [];
  return { directory: value["directory"], environment: names };
}

export function activeFile(id: string): string {
  return join(recordingsDirectory(id), "active.json");
}

/** `argv`: the agent, the event, and for some agents the payload. */
export async function captureHook(argv: readonly string[]): Promise<void> {
  const [id = "", event = ""] = argv;
  if (!isAgentId(id) || !isEventName(event)) return;
  const active = activeRecording(id);
  if (!active || !existsSync(active.directory)) return;
  const input = await readInput(argv.at(-1));
  const raw = readPayload(input, argv.slice(2));
  const file = await storePayload(active.directory, event, raw);
  const call: RecordedCall = {
    time: now().toISOString(),
    event,
    file,
    cwd: process.cwd(),
    env: variablesOf(raw, active.environment, process.env),
  };
  appendLine(join(active.directory, "calls.jsonl"), JSON.stringify(call));
}

/** Event names become file names and words of a shell command. */
export function isEventName(event: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(event);
}

/** Null if there is nothing to store, or no room for it. */
async function storePayload(directory: string, event: string, raw: Record<string, unknown>): Promise<string | null> {
  if (Object.keys(raw).length === 0) return null;
  const text = JSON.stringify(raw, null, 2);
  const place = join(directory, "payloads");
  const count = readdirSync(place).length;
  if (text.length > MAX_PAYLOAD_BYTES || count >= MAX_CALLS || sizeOnDisk(place) > MAX_PAYLOADS_BYTES) return null;
  const redactor = await createRedactor();
  const { bytes } = redactor.redact(text, { format: "json", placeholders: new PlaceholderTable() });
  // Hooks run at the same time, so the number alone could be taken.
  const name = `${event}.${String(count + 1).padStart(4, "0")}-${process.pid}.json`;
  writeFileAtomic(join(place, name), Buffer.concat([bytes, Buffer.from("\n")]));
  return name;
}

/** Names of the variables that the agent adds. Values are compared with the payload's and not stored. */
function variablesOf(
  raw: Record<string, unknown>,
  usual: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | null> {
  const known = new Set([...usual, "_", "PWD", "OLDPWD", "SHLVL"]);
  const paths = new Map([...textsIn(raw, "$", 0)].reverse());
  const names = Object.keys(env).filter((name) => !known.has(name) && /^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name));
  return Object.fromEntries(names.slice(0, MAX_VARIABLES).map((name) => [name, paths.get(env[name] ?? "") ?? null]));
}

function* textsIn(value: unknown, path: string, depth: number): Generator<[text: string, path: string]> {
  if (isText(value)) {
    if (value.length >= 6) yield [value, path];
    return;
  }
  if (!isRecord(value) || depth >= MAX_DEPTH) return;
  for (const [name, inner] of Object.entries(value)) {
    if (/^[A-Za-z0-9_-]+$/.test(name)) yield* textsIn(inner, `${path}.${name}`, depth + 1);
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
