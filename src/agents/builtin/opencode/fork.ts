/**
 * Forks a conversation at a message into a file that `opencode import` imports as a new session. Everything in it gets
 * a new id, because OpenCode does not import messages with known ids.
 */
import { dirname, join } from "node:path";
import { now } from "../../../base/clock.ts";
import { isRecord } from "../../../base/json.ts";
import { asBuffer } from "../../../transcripts/lines.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../../contract/agent.ts";
import type { Profile } from "../../contract/profile.ts";
import { forkTitle, titlePrefix } from "../../shared/fork.ts";
import { importCommand, resumeCommand } from "../../shared/resume.ts";
import { idAt, renewed, sessionIdAt } from "./ids.ts";
import { type Message, readRecords } from "./transcript.ts";

type Json = Record<string, unknown>;

export function createForker(profile: Profile): TranscriptForker {
  return {
    fork: (request) => fork(request, profile),
    resumeCommand: (sessionId) => resumeCommand(profile, sessionId),
  };
}

function fork(request: ForkRequest, profile: Profile): ForkResult {
  const { messages, session } = readRecords(asBuffer(request.bytes));
  const time = now();
  const sessionId = sessionIdAt(time, request.newSessionId);
  const transcriptPath = join(dirname(request.transcriptPath), "forks", `${sessionId}.json`);
  const kept = completePart(upTo(messages, request.lastId));
  const steps = [...importCommand(profile, transcriptPath).steps, ...resumeCommand(profile, sessionId).steps];
  const command = { cwd: null, steps };
  if (kept.length === 0) return { sessionId, transcriptPath, content: new Uint8Array(0), command };

  const ids = newIds(kept, sessionId);
  const exported = {
    info: {
      ...sessionInfo(session, request, profile),
      id: sessionId,
      title: forkTitle(request, titlePrefix(profile)),
      ...totals(kept),
      time: { created: time.getTime(), updated: time.getTime() },
    },
    messages: [
      ...kept.map(({ native }) => ({
        info: { ...(withIds(native.info, ids) as Json), sessionID: sessionId },
        parts: native.parts.map((part) => ({ ...(withIds(part, ids) as Json), sessionID: sessionId })),
      })),
      ...(request.account ? [accountMessage(kept, sessionId, time, request.account)] : []),
    ],
  };
  const content = Buffer.from(`${JSON.stringify(exported)}\n`);
  return { sessionId, transcriptPath, content, command, told: Boolean(request.account) };
}

/** A user message for the same agent and model as the last one. */
function accountMessage(messages: readonly Message[], sessionID: string, time: Date, text: string): Json {
  const asked = messages.findLast(({ role }) => role === "user")?.native.info ?? {};
  const id = idAt("msg", time, sessionID);
  const { agent, model } = asked;
  return {
    info: { id, sessionID, role: "user", time: { created: time.getTime() }, agent, model },
    parts: [{ id: idAt("prt", time, sessionID), sessionID, messageID: id, type: "text", text }],
  };
}

/** Returns all messages if none has the id `lastId`. */
function upTo(messages: readonly Message[], lastId: string | null): readonly Message[] {
  const last = messages.findIndex((message) => message.id === lastId);
  return last < 0 ? messages : messages.slice(0, last + 1);
}

/** Up to the last message that is complete. */
function completePart(messages: readonly Message[]): readonly Message[] {
  return messages.slice(0, messages.findLastIndex((message) => message.whole) + 1);
}

function newIds(messages: readonly Message[], seed: string): Map<string, string> {
  const ids = new Map<string, string>();
  for (const { id, native } of messages) {
    ids.set(id, renewed(id, seed));
    for (const part of native.parts) {
      if (typeof part["id"] === "string") ids.set(part["id"], renewed(part["id"], seed));
    }
  }
  return ids;
}

/** Replaces strings that are exactly an id, never parts of a text. */
function withIds(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return ids.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => withIds(item, ids));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withIds(item, ids)]));
}

/** Fills in the fields that an import needs, in case our record of the session is damaged. */
function sessionInfo(session: Json | null, request: ForkRequest, profile: Profile): Json {
  const { parentID: _, ...known } = session ?? {};
  const version = profile.tested_versions.at(-1) ?? "0.0.0";
  return { slug: "backtrail", projectID: "global", directory: request.projectRoot, version, ...known };
}

function totals(messages: readonly Message[]): Json {
  const answers = messages.filter((message) => message.role === "assistant").map((message) => message.native.info);
  const sum = (...path: string[]) => answers.reduce((total, info) => total + numberAt(info, path), 0);
  const cache = { read: sum("tokens", "cache", "read"), write: sum("tokens", "cache", "write") };
  const tokens = {
    input: sum("tokens", "input"),
    output: sum("tokens", "output"),
    reasoning: sum("tokens", "reasoning"),
  };
  return { cost: sum("cost"), tokens: { ...tokens, cache } };
}

function numberAt(value: unknown, path: readonly string[]): number {
  let found = value;
  for (const name of path) found = isRecord(found) ? found[name] : undefined;
  return typeof found === "number" && Number.isFinite(found) ? found : 0;
}
