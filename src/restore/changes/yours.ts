/**
 * Finds the user's own changes between a target and the current files: everything that changed while no turn ran,
 * except changes made by restores.
 */
import { now } from "../../base/clock.ts";
import { onDisk } from "../../base/fs/path-bytes.ts";
import type { TreeStore } from "../../git/objects/trees.ts";
import type { ObjectWriter } from "../../git/objects/writer.ts";
import type { Workspace } from "../../git/workspace.ts";
import { safeStat } from "../apply/move.ts";
import { mergeOf } from "../apply/restore-log.ts";
import type { TreeState } from "../revert/revert.ts";
import type { HistoryItem } from "../targets/history.ts";
import { changedPaths, stateAfterRestore } from "./restored-state.ts";
import { gapsBetween, type PassedTurn } from "./turns.ts";

export interface OwnChange {
  path: string;
  /** ISO time at which the file was written, or else the last known time before the change. */
  since: string;
}

interface Objects {
  trees: TreeStore;
  writer: ObjectWriter;
}

/** By path. */
export async function ownChangesSince(
  workspace: Workspace,
  objects: Objects,
  history: readonly HistoryItem[],
  turns: readonly PassedTurn[],
  current: TreeState,
): Promise<Map<string, OwnChange>> {
  const found = new Map<string, OwnChange>();
  const add = async (from: Moment, to: Moment) => {
    if (from.state.work === to.state.work && from.state.raw === to.state.raw) return;
    for (const path of await changedPaths(objects.trees, from.state, to.state)) {
      if (found.has(path)) continue;
      found.set(path, { path, since: writtenBetween(workspace, path, from.time, to.time) ?? from.time });
    }
  };
  for (const i of gapsBetween(history, turns)) {
    const item = history[i];
    const state = item && (await stateAfter(workspace, objects, item));
    if (!item || !state) continue;
    const start = { state, time: timeOf(item) };
    // Whatever `rewind --keep-mine` kept from after its target is the user's.
    if (isKeepMine(item)) await add({ state: item.step.snapshot, time: item.step.time }, start);
    const next = history[i + 1];
    const end = next ? before(workspace, next) : { state: current, time: now().toISOString() };
    if (end) await add(start, end);
  }
  return found;
}

interface Moment {
  state: TreeState;
  time: string;
}

function isKeepMine(item: HistoryItem): item is HistoryItem & { kind: "arrival" } {
  return item.kind === "arrival" && item.by !== null && mergeOf(item.by.record) !== null;
}

/**
 * The state that the item found. For an arrival it is the one that the history before leads to: the state of its step.
 * Null if that is a step of another work tree, whose state comes from elsewhere.
 */
function before({ worktree }: Workspace, item: HistoryItem): Moment | null {
  if (item.kind === "restore") return { state: item.safety.snapshot, time: item.record.time };
  if (item.kind === "arrival" && item.step.worktree !== worktree) return null;
  return { state: item.step.snapshot, time: item.step.time };
}

/** Null if unknown. */
async function stateAfter(workspace: Workspace, objects: Objects, item: HistoryItem): Promise<TreeState | null> {
  if (item.kind === "step") return item.step.snapshot;
  if (item.kind === "restore") return stateAfterRestore(workspace, objects, item.record, item.safety);
  const { by, step } = item;
  return by && isKeepMine(item) ? stateAfterRestore(workspace, objects, by.record, by.safety) : step.snapshot;
}

function timeOf(item: HistoryItem): string {
  if (item.kind === "step") return item.step.time;
  return item.kind === "arrival" ? item.time : item.record.time;
}

/** The file's write time if it is within the range; otherwise a later write has replaced it. */
function writtenBetween({ root }: Workspace, path: string, from: string, to: string): string | undefined {
  const stat = safeStat(onDisk(root, path));
  if (!stat) return undefined;
  const written = Number(stat.mtimeMs);
  return written > Date.parse(from) && written <= Date.parse(to) ? new Date(written).toISOString() : undefined;
}
