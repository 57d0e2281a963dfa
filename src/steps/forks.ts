/**
 * The forks of a store: one small file each, replaced whole. docs/formats/forks.md specifies it. It lies with the steps
 * because the step behind a fork is kept as long as the fork is.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { namesIn, readJson, writeJson } from "../base/files.ts";
import { logError } from "../base/log.ts";
import type { Workspace } from "../git/workspace.ts";
import type { StepSnapshot } from "./model.ts";

export type ForkKind = "worktree" | "branch" | "directory";

export interface ForkRecord {
  v: 1;
  /** Made like a step's id. */
  id: string;
  /** What a person calls it. */
  name: string;
  kind: ForkKind;
  /** `making`: somebody is at it, or was when the process ended. `dropping`: likewise. */
  state: "making" | "ready" | "dropping";
  time: string;
  /** What it was made from: the step (null for a commit), and the state that both attempts began with. */
  from: { step: string | null; worktree: string; root: string; prompt: string | null };
  base: Pick<StepSnapshot, "work" | "raw">;
  /** The commit that its branch begins at; null where there was none. */
  commit: string | null;
  branch: string | null;
  /** Where it lies; null for a branch alone. */
  directory: string | null;
  /** How its work tree is called in the store; null until it is made, and for a branch alone. */
  worktree: string | null;
  chat: ForkChat | null;
  /** What is needed to finish it; null once it is ready. */
  making: ForkMaking | null;
}

export interface ForkMaking {
  /** By which hooks call us. */
  executable: string;
  /** The agent that takes over, and how many characters it is told at most; null where the same one goes on. */
  handOver: { agent: string; limit: number } | null;
  /** The directory that the conversation's files must not leave, once they lie ready. */
  chatRoot: string | null;
}

/** The conversation that goes on there. */
export interface ForkChat {
  agent: string;
  /** Null until the agent gives it one: a conversation that was handed over begins anew. */
  session: string | null;
  /** The transcript, or the file with the words that were handed over. */
  file: string;
  command: string;
}

export function forksDirectory(workspace: Pick<Workspace, "storeDir">): string {
  return join(workspace.storeDir, "forks");
}

/** What a fork needs while it is being made. */
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

/** Oldest first; what can't be read is left out. */
export function listForks(workspace: Pick<Workspace, "storeDir">): ForkRecord[] {
  const found: ForkRecord[] = [];
  for (const name of namesIn(forksDirectory(workspace))) {
    const id = /^([k-z]{12})\.json$/.exec(name)?.[1];
    const record = id === undefined ? undefined : readRecord(workspace, id);
    if (record) found.push(record);
  }
  return found.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : a.id < b.id ? -1 : 1));
}

/** Commits that no branch has any more, by the day on which they were let go of and the id of whatever had them. */
export const DROPPED_REFS = "refs/backtrail/dropped/";

/** The day is part of the name, since a ref tells no time of its own. */
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
