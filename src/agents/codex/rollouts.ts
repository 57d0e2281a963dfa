/**
 * Where Codex keeps its conversations: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl` below its home. The
 * first line says whose conversation it is.
 */
import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { firstLine } from "../../transcripts/file-bytes.ts";
import { isRecord } from "../profile.ts";

/** The first line holds the model's instructions as well. */
const HEAD_BYTES = 512 * 1024;
/** Days that are looked through for a thread, the newest first. */
const MOST_DAYS = 400;

const THREAD_ID = /^[0-9A-Za-z-]{1,64}$/;

/** The rollout of a thread that is known by its id alone. */
export function findRollout(thread: string, sessions = sessionsDirectory()): string | null {
  if (!THREAD_ID.test(thread)) return null;
  let days = 0;
  for (const year of numbered(sessions)) {
    for (const month of numbered(join(sessions, year))) {
      for (const day of numbered(join(sessions, year, month))) {
        const directory = join(sessions, year, month, day);
        const name = namesIn(directory).find(
          (each) => each.startsWith("rollout-") && each.endsWith(`-${thread}.jsonl`),
        );
        if (name !== undefined) return join(directory, name);
        if (++days >= MOST_DAYS) return null;
      }
    }
  }
  return null;
}

/** Begun by a user: no subagent's, and none of those that Codex runs for itself. */
export function isUsersThread(path: string): boolean {
  const meta = readMeta(path);
  if (meta === null || isRecord(meta["source"])) return false;
  const source = meta["thread_source"];
  return (source === undefined || source === "user") && (meta["session_id"] ?? meta["id"]) === meta["id"];
}

/** The thread that this one was forked from. */
export function parentThread(path: string): string | null {
  const parent = readMeta(path)?.["forked_from_id"];
  return typeof parent === "string" && THREAD_ID.test(parent) ? parent : null;
}

function sessionsDirectory(): string {
  return join(process.env["CODEX_HOME"] || join(process.env["HOME"] || homedir(), ".codex"), "sessions");
}

function readMeta(path: string): Record<string, unknown> | null {
  try {
    const line: unknown = JSON.parse(firstLine(path, HEAD_BYTES));
    return isRecord(line) && line["type"] === "session_meta" && isRecord(line["payload"]) ? line["payload"] : null;
  } catch {
    return null;
  }
}

/** The newest first. */
function numbered(directory: string): string[] {
  return namesIn(directory)
    .filter((name) => /^\d{2,4}$/.test(name))
    .sort()
    .reverse();
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
