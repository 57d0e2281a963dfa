/**
 * Notices for sessions that are open while files are restored: the session's next prompt carries them to its agent.
 * One file per session, one JSON line per restore. docs/formats/sessions.md specifies it.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { now } from "../base/clock.ts";
import { appendLine, namesIn, readText, writeFileAtomic } from "../base/fs/files.ts";
import { isRecord } from "../base/json.ts";
import { shorten } from "../base/text.ts";
import type { Workspace } from "../git/workspace.ts";
import { NOTICES, noticesFile } from "./session/store.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** After this time an agent reads the files again anyway. */
export const NOTICE_DAYS = 7;
/** The newest notices are sent whole, those before them in short, and the others are counted. */
const MAX_WHOLE = 5;
const MAX_SHORT = 15;
const SHORT_LINES = 6;
const SHORT_LINE_LENGTH = 240;

export interface RestoreNotice {
  /** The restore's id: a restore that is finished after a kill adds its notice only once. */
  restore: string;
  /** The restore that this one reverted exactly. If neither is told yet, neither needs to be. */
  takesBack?: string;
  time: string;
  text: string;
  /** Keys of the sessions that the text quotes, so that `forget` finds it. */
  quotes: string[];
}

export function addNotice(workspace: Workspace, key: string, notice: RestoreNotice): void {
  const file = noticesFile(workspace, key);
  if (parse(readText(file) ?? "").some(({ restore }) => restore === notice.restore)) return;
  appendLine(file, JSON.stringify(notice));
}

export interface PendingNotices {
  /** Null if all notices have expired. */
  text: string | null;
  /** Call this once the agent has received the text. */
  remove(): void;
}

export function pendingNotices(workspace: Workspace, key: string): PendingNotices {
  const file = noticesFile(workspace, key);
  const content = readText(file) ?? "";
  const oldest = new Date(now().getTime() - NOTICE_DAYS * DAY_MS).toISOString();
  const texts = stillInForce(parse(content)).flatMap(({ time, text }) => (time < oldest ? [] : [text]));
  return {
    text: texts.length === 0 ? null : bounded(texts).join("\n\n"),
    remove() {
      const present = readText(file) ?? "";
      // Keep notices that another restore has added since.
      if (present.length > content.length && present.startsWith(content))
        writeFileAtomic(file, present.slice(content.length));
      else rmSync(file, { force: true });
    },
  };
}

/** Without restores that a later one reverted, and without that one. */
function stillInForce(notices: readonly RestoreNotice[]): RestoreNotice[] {
  const pending = new Set(notices.map(({ restore }) => restore));
  const reverted = new Set<string>();
  const left = notices.toReversed().filter(({ restore, takesBack }) => {
    if (reverted.has(restore)) return false;
    if (takesBack === undefined || !pending.has(takesBack)) return true;
    reverted.add(takesBack);
    return false;
  });
  return left.reverse();
}

/** Oldest first. */
function bounded(texts: readonly string[]): string[] {
  const whole = texts.slice(-MAX_WHOLE);
  const before = texts.slice(0, -MAX_WHOLE);
  const short = before.slice(-MAX_SHORT).map(inShort);
  const more = before.length - short.length;
  return [...(more > 0 ? [`[Backtrail] … and ${more} more (backtrail ops)`] : []), ...short, ...whole];
}

/** Without the advice of the last line, which a whole notice follows with. */
function inShort(text: string): string {
  const lines = text.split("\n");
  const told = lines.length > 1 ? lines.slice(0, -1) : lines;
  return told
    .slice(0, SHORT_LINES)
    .map((line) => shorten(line, SHORT_LINE_LENGTH))
    .join("\n");
}

/** Removes notices for a session, and those for other sessions that quote it. */
export function forgetNotices(workspace: Workspace, key: string): void {
  const worktrees = join(workspace.storeDir, "worktrees");
  for (const worktree of namesIn(worktrees)) {
    const directory = join(worktrees, worktree, NOTICES);
    for (const name of namesIn(directory)) {
      const file = join(directory, name);
      const notices = parse(readText(file) ?? "");
      const kept = name === key ? [] : notices.filter(({ quotes }) => !quotes.includes(key));
      if (kept.length === 0) rmSync(file, { force: true });
      else if (kept.length < notices.length)
        writeFileAtomic(file, kept.map((notice) => `${JSON.stringify(notice)}\n`).join(""));
    }
  }
}

/** Skips torn and unrecognized lines. */
function parse(content: string): RestoreNotice[] {
  return content.split("\n").flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return isNotice(value) ? [value] : [];
    } catch {
      return [];
    }
  });
}

function isNotice(value: unknown): value is RestoreNotice {
  if (!isRecord(value)) return false;
  const { restore, takesBack, time, text, quotes } = value as Partial<Record<keyof RestoreNotice, unknown>>;
  if (takesBack !== undefined && typeof takesBack !== "string") return false;
  return [restore, time, text].every((field) => typeof field === "string") && Array.isArray(quotes);
}
