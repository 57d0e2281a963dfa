/** Library API: sessions, named states and forks. */

import { resolve } from "node:path";
import { findProgram } from "../base/process/program.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../model/step.ts";
import { saveManually } from "../recording/save.ts";
import { resolveTarget } from "../restore/targets/resolve.ts";
import { logsDirectory } from "../run/log/layout.ts";
import type { SessionNode } from "../run/sessions/model.ts";
import { sessionTree } from "../run/sessions/tree.ts";
import { ApiError } from "./problems.ts";
import { WORDS } from "./words.ts";

/**
 * Lists every session known here, newest first: recorded, run without a terminal, or imported. A session's `children`
 * are the sessions that it started.
 *
 * @example
 * for (const { id, agent, prompt, turns } of await listSessions(workspace)) console.log(agent, id, turns, prompt);
 */
export async function listSessions(workspace: Workspace): Promise<SessionNode[]> {
  return sessionTree(workspace, logsDirectory(workspace.root, process.env));
}

/**
 * Saves the current state and the conversation of the newest session as a step, optionally under a name. `planRewind`
 * accepts the step's id or its name.
 *
 * @example
 * const step = await save(workspace, "before the big refactoring");
 */
export async function save(workspace: Workspace, name?: string): Promise<Step> {
  return (await saveManually(workspace, name?.trim() || null)).step;
}

export interface ForkOptions {
  /** The branch's name; by default derived from the prompt. */
  branch?: string;
  /** The directory of the new work tree; by default beside the repository. */
  directory?: string;
  /** Creates only a branch, without a work tree. */
  branchOnly?: boolean;
  /** The `backtrail` program that hooks in the new work tree call; by default the one in PATH. */
  executable?: string;
}

export interface Fork {
  id: string;
  name: string;
  /** Null if only a branch was created. */
  directory: string | null;
  /** Null in a folder without git. */
  branch: string | null;
  /** The command that continues the conversation there; null if there is no conversation. */
  command: string | null;
  /** Sentences for the user. */
  notes: string[];
}

/**
 * Creates a second attempt beside the first: a new work tree with the files and the conversation of a step. Accepts
 * every target that `backtrail rewind` accepts.
 *
 * @example
 * const { directory, command } = await fork(workspace, "1", { branch: "another-way" });
 */
export async function fork(workspace: Workspace, target: string, options: ForkOptions = {}): Promise<Fork> {
  const executable = options.executable ?? findProgram("backtrail");
  if (executable === null) throw new ApiError("usage", { kind: "executable-missing" });
  const { makeFork } = await import("../restore/fork/make.ts");
  const { branch, branchOnly } = options;
  const directory = options.directory === undefined ? undefined : resolve(workspace.root, options.directory);
  const place = await resolveTarget(workspace, target);
  const { record, notes } = await makeFork(workspace, place, { branch, branchOnly, directory, executable });
  const { id, name, chat } = record;
  return {
    id,
    name,
    directory: record.directory,
    branch: record.branch,
    command: chat?.command ?? null,
    notes: notes.map(WORDS.get().note),
  };
}
