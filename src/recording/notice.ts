/** The notice at a session's start: that Backtrail records, other open sessions, files not captured. */
import { join } from "node:path";
import { readJson, writeJson } from "../base/fs/files.ts";
import { oneLine, plural, shorten, shownPath } from "../base/text.ts";
import type { Workspace } from "../git/workspace.ts";
import type { NotCaptured } from "../model/step.ts";
import { stepsIn } from "../steps/log.ts";
import { isAlive } from "./orphaned-turns.ts";
import { loadSession, marked, type SessionState, setMark } from "./session/store.ts";

const MAX_REPORTED = 1_000;

export function recordingNotice(workspace: Workspace, ownKey: string): string {
  return [recording(workspace, ownKey), ...notCaptured(workspace)].join(" ");
}

/** Reports the files that the last step could not capture, each file once. */
function notCaptured(workspace: Workspace): string[] {
  const missed = missedAtLastStep(workspace);
  if (missed.length === 0) return [];
  const file = join(workspace.stateDir, "told-not-captured.json");
  const reported = new Set(readReported(file));
  const fresh = missed.filter(({ path }) => !reported.has(path));
  const [first, ...more] = fresh;
  if (!first) return [];
  writeJson(file, [...fresh.map(({ path }) => path), ...reported].slice(0, MAX_REPORTED));
  const others = more.length > 0 ? ` and ${plural(more.length, "more file")}` : "";
  const why = first.why === "too-large" ? "too large" : "no time to read it";
  return [`Not recorded: ${shownPath(first.path)} (${why})${others}; \`backtrail status\` lists them.`];
}

/** Files that a different setting, or more time, would have captured. */
export function missedAtLastStep(workspace: Workspace): NotCaptured[] {
  const missed = stepsIn(workspace).newest({ worktree: workspace.worktree })?.snapshot.notCaptured ?? [];
  return missed.filter(({ why }) => why === "too-large" || why === "no-time");
}

function readReported(file: string): string[] {
  try {
    const paths: unknown = readJson(file) ?? [];
    return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
  } catch {
    return [];
  }
}

function recording(workspace: Workspace, ownKey: string): string {
  const others = openSessions(workspace, ownKey);
  const other = others[0];
  if (!other) return "Backtrail is recording this session. To go back: backtrail rewind";
  const more = others.length > 1 ? ` and ${others.length - 1} more` : "";
  const what = other.title ? ` ("${shorten(oneLine(other.title), 60)}")` : "";
  return `Backtrail is recording this session. Also open in this work tree: ${other.agent}${what}${more}. Each session's turns are kept apart.`;
}

/** Sessions of this work tree whose agent still runs. Removes the marks of all others. */
export function openSessions(workspace: Workspace, ownKey: string | null): SessionState[] {
  const open: SessionState[] = [];
  for (const key of marked(workspace, "open")) {
    if (key === ownKey) continue;
    const state = loadSession(workspace, key);
    if (state && state.phase !== "ENDED" && isAlive(state)) open.push(state);
    else setMark(workspace, "open", key, false);
  }
  return open.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
}
