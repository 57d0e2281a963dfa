/**
 * `statusline`: one line for an agent's status bar: the turn, its files, the check, and what an undo would revert.
 * Agents run it after every message, so it loads little, starts no process and never fails.
 */
import { sessionKey } from "../../../base/ids.ts";
import { isRecord } from "../../../base/json.ts";
import { logError } from "../../../base/log.ts";
import { readInput } from "../../../base/process/stdin.ts";
import { plural } from "../../../base/text.ts";
import { findWorkspace, isEnabled, type Workspace } from "../../../git/workspace.ts";
import { changedPaths } from "../../../model/changes.ts";
import type { Step } from "../../../model/step.ts";
import { loadSession, type SessionState } from "../../../recording/session/store.ts";
import { readCheckResults } from "../../../restore/targets/check-results.ts";
import { readTurnStatuses } from "../../../restore/targets/turn-status.ts";
import { stepsIn } from "../../../steps/log.ts";
import type { Io } from "../../terminal/io.ts";

/** The user hardly means a turn further back than this. */
const MAX_STEPS = 200;

export async function run(_options: object, io: Io): Promise<undefined> {
  const line = await statusLine(io.cwd);
  if (line !== null) io.print(line);
}

/** Null if nothing is recorded here. The agent's JSON on standard input names the session and the directory. */
export async function statusLine(cwd: string): Promise<string | null> {
  try {
    const payload = parsed(await readInput(undefined));
    const workspace = findWorkspace(directoryIn(payload) ?? cwd);
    if (!workspace || !isEnabled(workspace)) return null;
    return describe(workspace, payload["session_id"]);
  } catch (error) {
    logError("status line", error);
    return null;
  }
}

function describe(workspace: Workspace, id: unknown): string {
  const steps = stepsIn(workspace).list({ worktree: workspace.worktree, limit: MAX_STEPS });
  const session = sessionOf(workspace, steps, id);
  const statuses = readTurnStatuses(workspace, steps);
  const ends = steps.filter(({ kind }) => kind === "turn-end");
  const last = ends.find((step) => session === undefined || step.session === session.id);
  const undoable = ends.find((step) => changedPaths(step.files).length > 0 && statuses.of(step) === null);
  const verdict = last && readCheckResults(workspace).of(last);
  const facts = [
    session ? `turn ${session.turn}` : "recording",
    ...(last ? [`${plural(changedPaths(last.files).length, "file")} changed`] : []),
    ...(verdict === "pass" ? ["check passed"] : verdict === "fail" ? ["check failed"] : []),
    undoable ? `undo last: ${plural(changedPaths(undoable.files).length, "file")}` : "nothing to undo",
  ];
  return `backtrail: ${facts.join(" · ")}`;
}

function sessionOf(workspace: Workspace, steps: readonly Step[], id: unknown): SessionState | undefined {
  const agent = typeof id === "string" ? steps.find(({ session }) => session === id)?.agent : undefined;
  return agent && typeof id === "string" ? loadSession(workspace, sessionKey(agent, id)) : undefined;
}

function directoryIn(payload: Record<string, unknown>): string | undefined {
  const { workspace, cwd } = payload;
  const places = isRecord(workspace) ? [workspace["project_dir"], workspace["current_dir"], cwd] : [cwd];
  return places.find((place): place is string => typeof place === "string" && place !== "");
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
