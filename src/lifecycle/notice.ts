/** The one line that a session begins with. */
import { oneLine, shorten } from "../base/text.ts";
import type { Workspace } from "../git/workspace.ts";
import { isAlive } from "./dead-turns.ts";
import { loadSession, marked, type SessionState, setMark } from "./session-state.ts";

export function recordingNotice(workspace: Workspace, ownKey: string): string {
  const others = openSessions(workspace, ownKey);
  const other = others[0];
  if (!other) return "Backtrail is recording this session. To go back: backtrail rewind";
  const more = others.length > 1 ? ` and ${others.length - 1} more` : "";
  const what = other.title ? ` ("${shorten(oneLine(other.title), 60)}")` : "";
  return `Backtrail is recording this session. Also open in this work tree: ${other.agent}${what}${more}. Each session's turns are kept apart.`;
}

/** Sessions of this work tree whose agent still runs; marks of others are tidied away. */
function openSessions(workspace: Workspace, ownKey: string): SessionState[] {
  const open: SessionState[] = [];
  for (const key of marked(workspace, "open")) {
    if (key === ownKey) continue;
    const state = loadSession(workspace, key);
    if (state && state.phase !== "ENDED" && isAlive(state)) open.push(state);
    else setMark(workspace, "open", key, false);
  }
  return open.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
}
