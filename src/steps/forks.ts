/**
 * Reads and writes fork records: one small file per fork, replaced as a whole. docs/formats/forks.md specifies it.
 * This module is part of `steps` because a fork keeps its source step from expiring.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { namesIn, readJson, writeJson } from "../base/fs/files.ts";
import { logError } from "../base/log.ts";
import type { Workspace } from "../git/workspace.ts";
import type { UserCommand } from "../model/command.ts";
import type { StepSnapshot } from "../model/step.ts";

type ForkKind = "worktree" | "branch" | "directory";

export interface ForkRecord {
  v: 1;
  /** Has the format of a step id. */
  id: string;
  /** The name that the user sees. */
  name: string;
  kind: ForkKind;
  /** `making` and `dropping`: the operation is running, or its process was killed. */
  state: "making" | "ready" | "dropping";
  time: string;
  /** The source of the fork: a step (null for a commit), its work tree and its prompt. */
  from: { step: string | null; worktree: string; root: string; prompt: string | null };
  base: Pick<StepSnapshot, "work" | "raw">;
  /** The commit at which the fork's branch begins; null if there was none. */
  commit: string | null;
  branch: string | null;
  /** The fork's directory; null for a branch only. */
  directory: string | null;
  /** The work tree's name in the store; null until it exists, and for a branch only. */
  worktree: string | null;
  chat: ForkChat | null;
  /** The data needed to finish the fork; null once it is ready. */
  making: ForkMaking | null;
  /** Ignored paths of the original work tree that were linked or copied into the fork. */
  bring?: { link: readonly string[]; copy: readonly string[] };
  /** Present for the worktree of a run; has the run's session once the agent has reported it. */
  run?: { session: string | null };
  /** The directory contains a marker with the id; absent for forks of older versions. */
  marked?: true;
}

export interface ForkMaking {
  /** The path by which hooks call Backtrail. */
  executable: string;
  /** The agent that takes over, and the maximum length of its handoff; null if the same agent continues. */
  handOver: { agent: string; limit: number } | null;
  /** The directory that must contain the conversation's files, once they are prepared. */
  chatRoot: string | null;
  /** The step that provides the files, if it is not the source step: for a dropped fork that is made again. */
  files?: string;
  /** The files have been written. */
  filled?: true;
  /** Set to recreate a dropped fork: the drop, and the operation that takes it back. */
  takesBack?: { drop: string; operation: string };
}

/** The conversation that continues in the fork. */
interface ForkChat {
  agent: string;
  /** Null until the agent reports a session: a handoff starts a new conversation. */
  session: string | null;
  /** The transcript or the handoff file. */
  file: string;
  command: string;
  /** The command as data; absent in records of older versions. */
  start?: UserCommand;
}

function forksDirectory(workspace: Pick<Workspace, "storeDir">): string {
  return join(workspace.storeDir, "forks");
}

/** The directory for files that are needed while a fork is being made. */
export function forkDirectory(workspace: Pick<Workspace, "storeDir">, id: string): string {
  return join(forksDirectory(workspace), id);
}

export function writeForkRecord(workspace: Workspace, record: ForkRecord): void {
  writeJson(recordFile(workspace, record.id), record, { sync: true });
}

export function removeForkRecord(workspace: Workspace, id: string): void {
  rmSync(recordFile(workspace, id), { force: true });
  rmSync(forkDirectory(workspace, id), { recursive: true, force: true });
}

/** Oldest first; skips unreadable records. */
export function listForks(workspace: Pick<Workspace, "storeDir">): ForkRecord[] {
  const found: ForkRecord[] = [];
  for (const name of namesIn(forksDirectory(workspace))) {
    const id = /^([k-z]{12})\.json$/.exec(name)?.[1];
    const record = id === undefined ? undefined : readRecord(workspace, id);
    if (record) found.push(record);
  }
  return found.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : a.id < b.id ? -1 : 1));
}

/** Refs to commits that no branch has, named after the day they were dropped and the id of their fork or run. */
export const DROPPED_REFS = "refs/backtrail/dropped/";

/** Includes the day, since a ref has no timestamp. */
export function droppedRef(id: string, time: Date): string {
  return `${DROPPED_REFS}${time.toISOString().slice(0, 10)}/${id}`;
}

/** Steps that a fork was made from. */
export function forkedSteps(workspace: Workspace): Set<string> {
  return new Set(listForks(workspace).flatMap(({ from }) => from.step ?? []));
}

function readRecord(workspace: Pick<Workspace, "storeDir">, id: string): ForkRecord | undefined {
  try {
    const record = readJson(recordFile(workspace, id)) as ForkRecord | undefined;
    return record?.v === 1 && record.id === id && typeof record.name === "string" ? record : undefined;
  } catch (error) {
    logError(`fork ${id}`, error);
    return undefined;
  }
}

function recordFile(workspace: Pick<Workspace, "storeDir">, id: string): string {
  return join(forksDirectory(workspace), `${id}.json`);
}
