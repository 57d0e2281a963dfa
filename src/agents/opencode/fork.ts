/**
 * A conversation cut at a message, as a file that `opencode import` takes in as a new session. Everything in it has a
 * new id: of messages whose ids it knows, OpenCode would take in nothing.
 */
import { dirname, join } from "node:path";
import { now } from "../../base/clock.ts";
import type { ForkRequest, ForkResult, TranscriptForker } from "../agent.ts";
import { forkTitle } from "../fork.ts";
import { isRecord, type Profile } from "../profile.ts";
import { quoted, resumeCommand } from "../resume.ts";
import { idAt, renewed, sessionIdAt } from "./ids.ts";
import { type Message, readRecords } from "./records.ts";

type Json = Record<string, unknown>;

export function createForker(profile: Profile): TranscriptForker {
  return {
    fork: (request) => fork(request, profile),
    resumeCommand: (sessionId) => resumeCommand(profile, sessionId),
  };
}

function fork(request: ForkRequest, profile: Profile): ForkResult {
  const { messages, session } = readRecords(request.bytes);
  const time = now();
  const sessionId = sessionIdAt(time, request.newSessionId);
  const transcriptPath = join(dirname(request.transcriptPath), "forks", `${sessionId}.json`);
  const kept = wholePart(upTo(messages, request.lastId));
  const command = `opencode import ${quoted(transcriptPath)} && ${resumeCommand(profile, sessionId)}`;
  if (kept.length === 0) return { sessionId, transcriptPath, content: new Uint8Array(0), command };

  const ids = newIds(kept, sessionId);
  const exported = {
    info: {
      ...sessionInfo(session, request, profile),
      id: sessionId,
      title: forkTitle(request.title, profile.transcript?.title_prefix ?? ""),
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

/** A message of the user's, for the agent and the model that had the last one. */
function accountMessage(messages: readonly Message[], sessionID: string, time: Date, text: string): Json {
  const asked = messages.findLast(({ role }) => role === "user")?.native.info ?? {};
  const id = idAt("msg", time, sessionID);
  const { agent, model } = asked;
  return {
    info: { id, sessionID, role: "user", time: { created: time.getTime() }, agent, model },
    parts: [{ id: idAt("prt", time, sessionID), sessionID, messageID: id, type: "text", text }],
  };
}

/** All of them where there is no such message. */
function upTo(messages: readonly Message[], lastId: string | null): readonly Message[] {
  const last = messages.findIndex((message) => message.id === lastId);
  return last < 0 ? messages : messages.slice(0, last + 1);
}

/** An answer that was never finished is no end; what came before it is. */
function wholePart(messages: readonly Message[]): readonly Message[] {
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

/** Wherever an id stands by itself; never within words. */
function withIds(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return ids.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => withIds(item, ids));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withIds(item, ids)]));
}

/** What an import needs, where our own record of the session is damaged. */
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
