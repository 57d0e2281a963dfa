/**
 * Paths of Codex's rollouts: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl` in its home directory. The first line
 * describes the thread.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../../../base/json.ts";
import { homeDirectory } from "../../../base/paths.ts";
import { firstLine } from "../../../transcripts/file-bytes.ts";

/** The first line also contains the model's instructions. */
const MAX_HEAD_BYTES = 512 * 1024;
/** The number of days to search for a thread, newest first. */
const MAX_DAYS = 400;

const THREAD_ID = /^[0-9A-Za-z][0-9A-Za-z-]{0,63}$/;

/** Finds a thread's rollout by the thread id. */
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
        if (++days >= MAX_DAYS) return null;
      }
    }
  }
  return null;
}

export function storesRollouts(): boolean {
  return numbered(sessionsDirectory()).length > 0;
}

/** True if a user started the thread, false for subagents and Codex's internal threads. */
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

/** The time in Codex's file names: local time, with hyphens only. */
export function fileTime(time: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
  return `${date}T${[two(time.getHours()), two(time.getMinutes()), two(time.getSeconds())].join("-")}`;
}

function sessionsDirectory(): string {
  return join(process.env["CODEX_HOME"] || join(homeDirectory(), ".codex"), "sessions");
}

function readMeta(path: string): Record<string, unknown> | null {
  try {
    const line: unknown = JSON.parse(firstLine(path, MAX_HEAD_BYTES));
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
