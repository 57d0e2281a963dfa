/**
 * Reads and writes proposal records: one small file per proposal, replaced as a whole. docs/formats/proposals.md
 * specifies it. This module is part of `steps` because `forget` removes the proposals that quote a session.
 */
import { join } from "node:path";
import { now } from "../base/clock.ts";
import { namesIn, readJson, removeFile, writeJson } from "../base/fs/files.ts";
import { isRecord } from "../base/json.ts";
import { logError } from "../base/log.ts";
import type { Workspace } from "../git/workspace.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long a person has to decide. */
const OPEN_DAYS = 1;
/** How long a decided or expired proposal stays listed. */
const LISTED_DAYS = 7;

export type ProposalState = "open" | "applied" | "dismissed" | "expired";

/** The steps of the turns to undo, or the state to rewind to. Ids, because `last` would mean another turn later. */
export type ProposalTarget = { turns: string[] } | { step: string } | { commit: string };

export interface ProposalRecord {
  v: 1;
  /** Has the format of a step id. */
  id: string;
  kind: "undo" | "rewind";
  target: ProposalTarget;
  /** Why the agent proposes it: the agent's words. */
  reason: string;
  /** The session that proposed it; null if unknown. */
  by: { agent: string; session: string } | null;
  time: string;
  expires: string;
  /** Counts how often the plan was drawn up; 1 at first. */
  revision: number;
  /** A digest of the plan's effects. Another digest at the time of applying means that the proposal is stale. */
  digest: string;
  plan: ProposedEffects;
  /** Keys of the sessions that the record quotes. */
  quotes: string[];
  state: "open" | "applied" | "dismissed";
  decidedAt: string | null;
  /** The restore that applied the proposal. */
  restore: { id: string; safetyStep: string } | null;
}

/** The plan in brief. Lists of paths are cut at `MAX_PATHS`; the counts are complete. */
export interface ProposedEffects {
  written: number;
  deleted: number;
  write: string[];
  delete: string[];
  turns: { id: string; agent: string; session: string; turn: number; prompt: string | null }[];
}

export const MAX_PATHS = 50;

export function expiryFrom(time: Date): string {
  return new Date(time.getTime() + OPEN_DAYS * DAY_MS).toISOString();
}

export function stateOf({ state, expires }: Pick<ProposalRecord, "state" | "expires">): ProposalState {
  return state === "open" && expires < now().toISOString() ? "expired" : state;
}

export function writeProposal(workspace: Workspace, record: ProposalRecord): void {
  writeJson(fileOf(workspace, record.id), record, { sync: true });
}

export function readProposal(workspace: Workspace, id: string): ProposalRecord | undefined {
  return /^[k-z]{12}$/.test(id) ? readFileAt(fileOf(workspace, id)) : undefined;
}

/** The proposals of this work tree, newest first. Skips records that can't be read. */
export function listProposals(workspace: Workspace): ProposalRecord[] {
  const found = recordsIn(directoryOf(workspace)).map(({ record }) => record);
  return found.sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : a.id < b.id ? -1 : 1));
}

/** Removes proposals that can't be applied and that were decided or expired a week ago. */
export function removeOldProposals(workspace: Workspace): void {
  const oldest = new Date(now().getTime() - LISTED_DAYS * DAY_MS).toISOString();
  for (const { file, record } of recordsIn(directoryOf(workspace)))
    if ((record.decidedAt ?? record.expires) < oldest) removeFile(file);
}

/** Removes proposals of a session, and those that quote it, in every work tree. */
export function forgetProposals(workspace: Workspace, key: string): void {
  const worktrees = join(workspace.storeDir, "worktrees");
  for (const worktree of namesIn(worktrees))
    for (const { file, record } of recordsIn(join(worktrees, worktree, "proposals")))
      if (record.quotes.includes(key)) removeFile(file);
}

function recordsIn(directory: string): { file: string; record: ProposalRecord }[] {
  return namesIn(directory).flatMap((name) => {
    if (!/^[k-z]{12}\.json$/.test(name)) return [];
    const file = join(directory, name);
    const record = readFileAt(file);
    return record ? [{ file, record }] : [];
  });
}

function readFileAt(file: string): ProposalRecord | undefined {
  try {
    const value = readJson(file);
    return isProposal(value) && file.endsWith(`${value.id}.json`) ? value : undefined;
  } catch (error) {
    logError("proposal", error);
    return undefined;
  }
}

function isProposal(value: unknown): value is ProposalRecord {
  if (!isRecord(value) || value["v"] !== 1) return false;
  const texts = ["id", "kind", "reason", "time", "expires", "digest", "state"];
  return (
    texts.every((key) => typeof value[key] === "string") &&
    isRecord(value["target"]) &&
    isRecord(value["plan"]) &&
    Array.isArray(value["quotes"])
  );
}

function directoryOf(workspace: Workspace): string {
  return join(workspace.stateDir, "proposals");
}

function fileOf(workspace: Workspace, id: string): string {
  return join(directoryOf(workspace), `${id}.json`);
}
