/** Sessions in the external-agent protocol: finds an agent's session files, and reads and writes them as a whole. */
import { existsSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { UserError } from "../../base/errors.ts";
import { entriesIn, writeFileAtomic } from "../../base/fs/files.ts";
import { writeGuarded } from "../../base/fs/guarded-files.ts";
import { isRecord } from "../../base/json.ts";
import { isInside } from "../../base/paths.ts";
import { oneLine, shorten } from "../../base/text.ts";
import { tryGit } from "../../git/run.ts";
import type { Agent } from "../contract/agent.ts";
import { toEnvelope } from "../registry/normalize.ts";
import { transcriptDirectories } from "../registry/transcript-paths.ts";
import type { WireSession } from "./protocol.ts";
import { transcriptAt } from "./serve-transcript.ts";

/** The maximum depth of the search for a session's file; agents sort them by project or by date. */
const DEEPEST = 4;
const MAX_DIRECTORIES = 2_000;

/** Empty if the input names no session; a host may ask before it knows the id, which is not an error. */
export function sessionIdOf(agent: Agent, input: Record<string, unknown>): string {
  const raw = input["raw_data"];
  const own = isRecord(raw) ? toEnvelope(agent.profile, "", raw).sessionId : null;
  return text(input["session_id"]) || own || toEnvelope(agent.profile, "", input).sessionId || "";
}

export function sessionDirectory({ profile, sessionFolder }: Agent, root: string): string {
  // An agent without a transcript directory writes into the work tree.
  const [all] = transcriptDirectories(profile);
  if (all === undefined) return resolve(root);
  return sessionFolder ? join(all, sessionFolder(resolve(root))) : all;
}

/** The path of the session's file, whether or not the file exists. */
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
      if (++seen > MAX_DIRECTORIES) return undefined;
      for (const entry of entriesIn(place)) {
        if (entry.isDirectory()) next.push(join(place, entry.name));
        else if (entry.isFile() && entry.name.includes(sessionId) && entry.name.endsWith(extension))
          return join(place, entry.name);
      }
    }
    level = next;
  }
  return undefined;
}

export async function readSession(agent: Agent, input: Record<string, unknown>, root: string): Promise<WireSession> {
  const id = sessionIdOf(agent, input);
  if (id === "") throw new UserError("usage", "The hook's input names no session.");
  const ref = text(input["session_ref"]) || resolveSessionFile(agent, sessionDirectory(agent, root), id);
  const bytes = transcriptAt(root, ref, true) ?? Buffer.alloc(0);
  const files = agent.analyzer?.readSlice(bytes, 0).files ?? [];
  const states = await fileStates(root, files);
  return {
    session_id: id,
    agent_name: agent.profile.id,
    repo_path: root,
    session_ref: ref,
    start_time: startOf(agent, bytes, resolve(root, ref)),
    native_data: bytes.toString("base64"),
    modified_files: files.filter((file) => states.get(file) === "modified"),
    new_files: files.filter((file) => states.get(file) === "new"),
    deleted_files: files.filter((file) => states.get(file) === "deleted"),
  };
}

type FileState = "modified" | "new" | "deleted";

/** Compares with the last commit, because a transcript only says which files were written. */
async function fileStates(root: string, files: readonly string[]): Promise<Map<string, FileState>> {
  const tracked = await filesOfHead(root);
  const states = files.map((file) => {
    const path = resolve(root, file);
    if (!existsSync(path)) return [file, "deleted"] as const;
    return [file, tracked !== null && !tracked.has(relative(root, path)) ? "new" : "modified"] as const;
  });
  return new Map(states);
}

/** Empty before the first commit; null outside of a repository, where there is nothing to compare with. */
async function filesOfHead(root: string): Promise<Set<string> | null> {
  const { code, stdout } = await tryGit(["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"], { cwd: root });
  if (code === 0) return new Set(stdout.toString("utf8").split("\0"));
  const [repository, head] = await Promise.all(
    [["--git-dir"], ["--verify", "--quiet", "HEAD"]].map((asked) => tryGit(["rev-parse", ...asked], { cwd: root })),
  );
  return repository?.code === 0 && head?.code !== 0 ? new Set() : null;
}

/** The time of the first entry that has one; otherwise the file's time. */
function startOf(agent: Agent, bytes: Buffer, path: string): string {
  const first = agent.analyzer?.read(bytes).entries.find(({ time }) => time !== null)?.time;
  const date = new Date(first ?? Number.NaN);
  return (Number.isNaN(date.getTime()) ? statSync(path).birthtime : date).toISOString();
}

/** Writes the whole session to the path that the host names. */
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
  const path = resolve(root, ref);
  const bytes = Buffer.from(data ?? "", "base64");
  if (isInside(root, path)) writeGuarded(root, path, bytes);
  else writeFileAtomic(path, bytes);
  return undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
