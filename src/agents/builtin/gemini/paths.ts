/** Paths of Gemini CLI's transcripts: `tmp/<short name>/chats`; `projects.json` maps directories to short names. */
import { basename, dirname, join } from "node:path";
import { readJson } from "../../../base/fs/files.ts";
import { isRecord } from "../../../base/json.ts";
import { isInside } from "../../../base/paths.ts";

/** The original's directory, unless the fork is for another work tree that Gemini CLI has a short name for. */
export function chatsDirectory(transcriptPath: string, projectRoot: string): string {
  const chats = dirname(transcriptPath);
  if (isFoundFrom(transcriptPath, projectRoot)) return chats;
  const temporary = dirname(dirname(chats));
  const wanted = shortNames(join(dirname(temporary), "projects.json")).get(projectRoot);
  return wanted === undefined ? chats : join(temporary, wanted, basename(chats));
}

/** Whether Gemini CLI, started in that directory, finds the transcript. */
export function isFoundFrom(transcriptPath: string, projectRoot: string): boolean {
  const chats = dirname(transcriptPath);
  const names = shortNames(join(dirname(dirname(dirname(chats))), "projects.json"));
  const own = basename(dirname(chats));
  return [...names].some(([directory, name]) => name === own && isInside(projectRoot, directory));
}

/** A subagent's transcript is in a folder of its session, next to the session's transcript. */
export function subagentTranscript(sessionTranscript: string, sessionId: string, id: string): string | null {
  const isName = (text: string) => /^[A-Za-z0-9_-]{1,128}$/.test(text);
  return isName(sessionId) && isName(id) ? join(dirname(sessionTranscript), sessionId, `${id}.jsonl`) : null;
}

function shortNames(path: string): Map<string, string> {
  try {
    const registry = readJson(path);
    const projects = isRecord(registry) ? registry["projects"] : undefined;
    const entries = isRecord(projects) ? Object.entries(projects) : [];
    const usable = (name: unknown): name is string => typeof name === "string" && /^[\w-][\w.-]{0,200}$/.test(name);
    return new Map(entries.flatMap(([directory, name]) => (usable(name) ? [[directory, name] as const] : [])));
  } catch {
    return new Map();
  }
}
