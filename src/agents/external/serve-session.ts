/** Sessions over the protocol: where an agent keeps them, and one of them read and written as a whole. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { UserError } from "../../base/errors.ts";
import { writeFileAtomic } from "../../base/files.ts";
import { oneLine, shorten } from "../../base/text.ts";
import type { Agent } from "../agent.ts";
import { toEnvelope } from "../normalise.ts";
import { isRecord } from "../profile.ts";
import type { WireSession } from "./protocol.ts";
import { transcriptAt } from "./serve-transcript.ts";

/** How far a session's file is looked for: agents keep them by project or by date. */
const DEEPEST = 4;
const MOST_DIRECTORIES = 2_000;

/** Empty where the input names none: a host asks before it knows, and that is no failure. */
export function sessionIdOf(agent: Agent, input: Record<string, unknown>): string {
  const raw = input["raw_data"];
  const own = isRecord(raw) ? toEnvelope(agent.profile, "", raw).sessionId : null;
  return text(input["session_id"]) || own || toEnvelope(agent.profile, "", input).sessionId || "";
}

export function sessionDirectory({ profile, sessionFolder }: Agent, root: string): string {
  // Without transcripts of its own, what an agent writes lies in the work tree.
  if (!profile.transcript) return resolve(root);
  const all = transcriptsDirectory(profile.transcript.directory, profile.hooks?.settings.user);
  return sessionFolder ? join(all, sessionFolder(resolve(root))) : all;
}

/** A variable that moves the agent's settings moves its transcripts, where both lie in one directory. */
function transcriptsDirectory(
  directory: string,
  user: { path: string; moved_by?: { env: string; path: string } } | undefined,
): string {
  const home = process.env["HOME"] || homedir();
  const moved = user?.moved_by && process.env[user.moved_by.env];
  const shared = user ? `${dirname(user.path)}/` : "";
  if (!user?.moved_by || !moved || !directory.startsWith(shared)) return join(home, directory);
  return join(resolve(moved), dirname(user.moved_by.path), directory.slice(shared.length));
}

/** The session's file where there is one, or else where it would be. */
export function resolveSessionFile({ profile }: Agent, directory: string, sessionId: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(sessionId)) {
    throw new UserError("usage", `"${shorten(oneLine(sessionId), 60)}" can't be the id of a session.`);
  }
  const extension = profile.transcript?.format ?? "jsonl";
  return found(resolve(directory), sessionId, `.${extension}`) ?? join(resolve(directory), `${sessionId}.${extension}`);
}

function found(directory: string, sessionId: string, extension: string): string | undefined {
  const plain = join(directory, `${sessionId}${extension}`);
  if (existsSync(plain)) return plain;
  let level = [directory];
  let seen = 0;
  for (let depth = 0; depth <= DEEPEST && level.length > 0; depth++) {
    const next: string[] = [];
    for (const place of level) {
      if (++seen > MOST_DIRECTORIES) return undefined;
      for (const entry of entriesOf(place)) {
        if (entry.isDirectory()) next.push(join(place, entry.name));
        else if (entry.isFile() && entry.name.includes(sessionId) && entry.name.endsWith(extension))
          return join(place, entry.name);
      }
    }
    level = next;
  }
  return undefined;
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

export function readSession(agent: Agent, input: Record<string, unknown>, root: string): WireSession {
  const id = sessionIdOf(agent, input);
  if (id === "") throw new UserError("usage", "The hook's input names no session.");
  const ref = text(input["session_ref"]) || resolveSessionFile(agent, sessionDirectory(agent, root), id);
  const bytes = transcriptAt(root, ref, true) ?? Buffer.alloc(0);
  return {
    session_id: id,
    agent_name: agent.profile.id,
    repo_path: root,
    session_ref: ref,
    start_time: startOf(agent, bytes, resolve(root, ref)),
    native_data: bytes.toString("base64"),
    modified_files: agent.analyser?.readStretch(bytes, 0).files ?? [],
    new_files: [],
    deleted_files: [],
  };
}

/** The first entry that has a time; without one, the file's own age. */
function startOf(agent: Agent, bytes: Buffer, path: string): string {
  const first = agent.analyser?.read(bytes).entries.find(({ time }) => time !== null)?.time;
  const date = new Date(first ?? Number.NaN);
  return (Number.isNaN(date.getTime()) ? statSync(path).birthtime : date).toISOString();
}

/** Written whole, where the host says that it belongs. */
export function writeSession(agent: Agent, session: Record<string, unknown>, root: string): undefined {
  const name = text(session["agent_name"]);
  if (name && name !== agent.profile.id) {
    throw new UserError("refused", `This is a session of "${shorten(oneLine(name), 60)}", not of ${agent.profile.id}.`);
  }
  const ref = text(session["session_ref"]);
  if (!ref || ref.includes("\0")) throw new UserError("usage", "The session names no file (session_ref).");
  const data = session["native_data"];
  if (data !== null && data !== undefined && typeof data !== "string") {
    throw new UserError("usage", "The session's native_data is not base64.");
  }
  writeFileAtomic(isAbsolute(ref) ? ref : resolve(root, ref), Buffer.from(data ?? "", "base64"));
  return undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
