/**
 * The format of a recording: what an agent's hooks sent and which files it wrote while a user worked with it. Format:
 * docs/formats/recordings.md. A recording is read as data; nothing in it is ever executed.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "../../../base/errors.ts";
import { readJson } from "../../../base/fs/files.ts";
import { isRecord } from "../../../base/json.ts";
import { dataDirectory } from "../../../base/paths.ts";
import type { TomlHookKeys } from "../../../edit/toml-hooks.ts";
import type { Scope } from "../../contract/profile.ts";
import { readPayload } from "../../registry/normalize.ts";
import type { HookFormat } from "./hook-formats.ts";

/** Where the recording hooks were installed. */
export interface InstalledHooks {
  scope: Scope;
  /** From the home directory or the repository's root, as a profile names it. */
  path: string;
  format: HookFormat;
  /** For TOML: the agent's names for the keys of a hook, where they differ. */
  names?: TomlHookKeys;
  events: string[];
}

/** `recording.json`. */
export interface RecordingFile {
  v: 1;
  agent: string;
  started: string;
  ended: string | null;
  /** The home directory and the directory in which the user worked. */
  home: string;
  cwd: string;
  hooks: InstalledHooks | null;
  transcripts: RecordedFile[];
}

export interface RecordedFile {
  /** The copy's name in `transcripts/`. */
  file: string;
  /** Where the agent wrote it. */
  path: string;
  /** How often it was seen to have changed. */
  changes: number;
}

/** One line of `calls.jsonl`: one call of a recording hook. */
export interface RecordedCall {
  time: string;
  /** The event that the hook was installed for. */
  event: string;
  /** The payload's name in `payloads/`; null if it was no JSON object or too large. */
  file: string | null;
  cwd: string;
  /** Names of variables that the agent set, and the path of a payload value that is the same. */
  env: Record<string, string | null>;
}

export interface Payload {
  file: string;
  /** By the call or, without one, by the file's name. */
  event: string;
  raw: Record<string, unknown>;
  env: Record<string, string | null>;
}

export interface Transcript {
  file: string;
  /** Null if unknown. */
  path: string | null;
  changes: number;
  bytes: Buffer;
}

export interface Recording {
  directory: string;
  home: string | null;
  cwd: string | null;
  hooks: InstalledHooks | null;
  /** In the order of the calls, or else of the names. */
  payloads: Payload[];
  transcripts: Transcript[];
}

/** Limits of a recording. */
export const MAX_CALLS = 5_000;
export const MAX_PAYLOAD_BYTES = 1 << 20;
export const MAX_PAYLOADS_BYTES = 64 << 20;
export const MAX_TRANSCRIPT_BYTES = 16 << 20;
export const MAX_TRANSCRIPTS = 12;

export function recordingsDirectory(id: string): string {
  return join(dataDirectory(), "recordings", id);
}

/** A recording, or any directory with `payloads/` and `transcripts/`. */
export function readRecording(directory: string): Recording {
  if (!existsSync(join(directory, "payloads")) && !existsSync(join(directory, "transcripts"))) {
    throw new UserError(
      "not-found",
      `There is no recording in ${directory}.`,
      "Make one with: backtrail agents record <id>",
    );
  }
  const about = aboutIn(directory);
  return {
    directory,
    home: about?.home ?? null,
    cwd: about?.cwd ?? null,
    hooks: about?.hooks ?? null,
    payloads: payloadsIn(directory),
    transcripts: transcriptsIn(directory, about?.transcripts ?? []),
  };
}

function aboutIn(directory: string): RecordingFile | undefined {
  const value = readJson(join(directory, "recording.json"));
  if (value === undefined) return undefined;
  const fits = isRecord(value) && value["v"] === 1 && typeof value["home"] === "string";
  if (!fits || typeof value["cwd"] !== "string" || !Array.isArray(value["transcripts"])) {
    throw new UserError("refused", `${join(directory, "recording.json")} is not a recording of this version.`);
  }
  return value as unknown as RecordingFile;
}

function payloadsIn(directory: string): Payload[] {
  const calls = callsIn(directory);
  const order = new Map(calls.map(({ file }, index) => [file, index]));
  const names = namesIn(join(directory, "payloads"), ".json").slice(0, MAX_CALLS);
  names.sort((a, b) => (order.get(a) ?? Number.MAX_VALUE) - (order.get(b) ?? Number.MAX_VALUE));
  return names.map((file) => {
    const call = calls[order.get(file) ?? -1];
    const raw = readPayload(readFileSync(join(directory, "payloads", file), "utf8"), []);
    return { file, event: call?.event ?? eventOfName(file), raw, env: call?.env ?? {} };
  });
}

/** The event in a payload's file name: `Stop.json`, `PreToolUse-Bash.json`, `Stop.0012.json`. */
export function eventOfName(file: string): string {
  return file.split(".", 1)[0] ?? "";
}

function callsIn(directory: string): RecordedCall[] {
  const path = join(directory, "calls.jsonl");
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        const value: unknown = JSON.parse(line);
        const fits = isRecord(value) && typeof value["event"] === "string" && isRecord(value["env"]);
        return fits ? [value as unknown as RecordedCall] : [];
      } catch {
        return [];
      }
    });
}

function transcriptsIn(directory: string, known: readonly RecordedFile[]): Transcript[] {
  const place = join(directory, "transcripts");
  const names = [...namesIn(place, ".jsonl"), ...namesIn(place, ".json")];
  return names
    .filter((file) => (statSync(join(place, file)).size ?? 0) <= MAX_TRANSCRIPT_BYTES)
    .map((file) => {
      const about = known.find((each) => isRecord(each) && each.file === file);
      const path = typeof about?.path === "string" ? about.path : null;
      const changes = typeof about?.changes === "number" ? about.changes : 0;
      return { file: basename(file), path, changes, bytes: readFileSync(join(place, file)) };
    });
}

function namesIn(directory: string, ending: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(ending))
      .sort();
  } catch {
    return [];
  }
}
