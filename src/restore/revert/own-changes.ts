/**
 * Finds the step ranges that contain a turn's own changes. While a turn runs alone, every change to its files is its
 * own. While another session's turn has the same file, lines can't be attributed: that range is skipped and reported.
 */

import { sessionKey } from "../../base/ids.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import { entryAt, type TreeStore } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import { changedPaths } from "../../model/changes.ts";
import type { Step } from "../../model/step.ts";
import { runningTurnFiles } from "../../recording/claims.ts";
import { marked } from "../../recording/session/store.ts";
import { stepsNewestFirst } from "../../steps/index-file.ts";
import { parentsOf } from "../plan/files.ts";
import { type FoundTurn, nameKey } from "../targets/turns.ts";
import type { Conflict, ConflictSource } from "../types.ts";
import type { Change, PastState, TreeState } from "./revert.ts";

export interface OwnChanges {
  /** Newest first. */
  changes: Change[];
  /** Files that another turn changed at the same time. */
  shared: Conflict[];
  /** End steps of later turns. */
  later: Step[];
}

/** A range of positions in the list of steps. */
interface Window {
  from: number;
  to: number;
}

interface TurnWindow extends Window {
  turn: FoundTurn;
  files: readonly string[];
}

/** Adjacent or overlapping windows of one file, from turns that are all being reverted. */
interface JoinedWindow extends Window {
  windows: [TurnWindow, ...TurnWindow[]];
}

interface Claim extends Window {
  who: ConflictSource;
  session: string;
  subagent: string | null;
  files: ReadonlySet<string>;
}

export async function ownChanges(
  workspace: Workspace,
  trees: TreeStore,
  turns: readonly FoundTurn[],
): Promise<OwnChanges> {
  const steps = stepsSince(workspace, turns);
  const at = new Map(steps.map((step, i) => [step.id, i]));
  const others = await claimsOf(workspace, steps, turns);
  const windows: TurnWindow[] = [];
  for (const turn of turns) {
    const window = { turn, from: (turn.first && at.get(turn.first.id)) ?? -1, to: at.get(turn.last.id) ?? -1 };
    const rivals = others.filter((claim) => contends(claim, window));
    // The turn that started a subagent may work alongside it and reports its files only at its end.
    const alone = rivals.length > 0 && turn.subagent === null;
    const files = alone ? await alsoInBetween(trees, steps, window, rivals) : [];
    windows.push({ ...window, files: [...new Set([...turn.files, ...files])] });
  }
  const groups = new Map<string, Change & { to: number; from: number }>();
  const shared = new Map<string, Conflict>();
  for (const [path, own] of windowsByPath(windows)) {
    for (const window of own) {
      const { turn } = window.windows[0];
      const rivals = others.filter(
        (claim) => claim.files.has(path) && window.windows.some((one) => contends(claim, one)),
      );
      for (const part of await partsOf(trees, steps, window, turn, rivals, path)) {
        if (part.rival) {
          shared.set(path, { path, reason: { kind: "shared", by: part.rival.who } });
          continue;
        }
        const key = `${part.from}-${part.to}`;
        const group = groups.get(key);
        if (group) group.paths.push(path);
        else groups.set(key, { ...changeOf(steps, part, turn), paths: [path], from: part.from, to: part.to });
      }
    }
  }
  const changes = [...groups.values()].sort((a, b) => b.to - a.to || b.from - a.from);
  return {
    changes: changes.map(({ from, before, after, paths, name }) => {
      const step = steps[from];
      return { before: step ? pastState(step, paths) : before, after, paths, name };
    }),
    shared: [...shared.values()],
    later: laterTurns(steps, turns),
  };
}

/** End steps of the turns after all of these. */
function laterTurns(steps: readonly Step[], turns: readonly FoundTurn[]): Step[] {
  const last = Math.max(...turns.map((turn) => steps.findIndex(({ id }) => id === turn.last.id)));
  return steps.slice(last + 1).filter(({ kind }) => kind === "turn-end");
}

/** Steps since the start of the earliest turn, oldest first. */
function stepsSince(workspace: Workspace, turns: readonly FoundTurn[]): Step[] {
  const ends = new Set(turns.flatMap(({ first, last }) => [first?.id ?? "", last.id]));
  ends.delete("");
  const steps: Step[] = [];
  const endless = turns.some(({ first }) => first === null);
  for (const step of stepsNewestFirst(workspace)) {
    if (step.worktree !== workspace.worktree) continue;
    steps.push(step);
    ends.delete(step.id);
    if (ends.size === 0 && !endless) break;
  }
  return steps.reverse();
}

/** The files that others report to have changed: turns of other sessions, and other subagents of the same turn. */
async function claimsOf(workspace: Workspace, steps: readonly Step[], turns: readonly FoundTurn[]): Promise<Claim[]> {
  const claims: Claim[] = [];
  const taken = new Set(turns.map(nameKey));
  const began = new Map<string, number>();
  for (const [i, step] of steps.entries()) {
    const { agent, session, turn, kind } = step;
    if (agent === null || session === null) continue;
    const subagent = kind === "task" ? (step.subagent?.id ?? null) : null;
    const key = nameKey({ agent, session, turn, subagent });
    if (kind === "turn-start" || step.subagent?.when === "start") began.set(key, i);
    if (kind !== "turn-end" && step.subagent?.when !== "end") continue;
    if (taken.has(key)) continue;
    const files = new Set(changedPaths(step.files));
    claims.push({ who: whoIs(step), session, subagent, files, from: began.get(key) ?? -1, to: i });
  }
  for (const key of marked(workspace, "active")) {
    const start = steps.findLastIndex(
      ({ agent, session, kind }) => kind === "turn-start" && sessionKey(agent ?? "", session ?? "") === key,
    );
    const files = new Set(await runningTurnFiles(workspace, key));
    claims.push({
      who: { kind: "running-turn" },
      session: key,
      subagent: null,
      files,
      from: start,
      to: steps.length,
    });
  }
  return claims;
}

/** True if the claim overlaps the window and is separate work. A turn's own subagents are part of the turn. */
function contends(claim: Claim, window: Window & { turn: FoundTurn }): boolean {
  if (!overlap(claim, window)) return false;
  const { session, subagent } = window.turn;
  return claim.session !== session || (claim.subagent !== null && subagent !== null);
}

function whoIs({ id, agent, subagent }: Step): ConflictSource {
  return subagent
    ? { kind: "subagent", name: subagent.description ?? subagent.type ?? subagent.id }
    : { kind: "turn", agent: agent ?? "", step: id };
}

/**
 * Files that a turn had only temporarily, as seen by steps of other turns: a file that it created and that another
 * turn moved or deleted is in neither its first nor its last step.
 */
async function alsoInBetween(
  trees: TreeStore,
  steps: readonly Step[],
  { turn, from, to }: Window & { turn: FoundTurn },
  rivals: readonly Claim[],
): Promise<string[]> {
  const found = new Set<string>();
  for (let i = from; i < to; i++) {
    if (rivals.some((claim) => overlap(claim, { from: i, to: i + 1 }))) continue;
    const [before, after] = [stateAt(steps, i, turn), stateAt(steps, i + 1, turn)];
    for (const { path } of await compareTrees(trees, before.work, after.work)) found.add(path);
  }
  return [...found];
}

/** The windows in which turns had each file; adjacent windows are joined. */
function windowsByPath(windows: readonly TurnWindow[]): Map<string, JoinedWindow[]> {
  const byPath = new Map<string, JoinedWindow[]>();
  for (const window of [...windows].sort((a, b) => a.from - b.from || a.to - b.to)) {
    for (const path of window.files) {
      const known = byPath.get(path) ?? [];
      const before = known.at(-1);
      if (before && before.to >= window.from) {
        before.to = Math.max(before.to, window.to);
        before.windows.push(window);
      } else known.push({ from: window.from, to: window.to, windows: [window] });
      byPath.set(path, known);
    }
  }
  return byPath;
}

/** The whole window; or, if others claim the file too, the parts in which it changed, each with its rival. */
async function partsOf(
  trees: TreeStore,
  steps: readonly Step[],
  window: Window,
  turn: FoundTurn,
  rivals: readonly Claim[],
  path: string,
): Promise<(Window & { rival: Claim | null })[]> {
  if (rivals.length === 0) return [{ from: window.from, to: window.to, rival: null }];
  const parts: (Window & { rival: Claim | null })[] = [];
  for (let i = window.from; i < window.to; i++) {
    const one = { from: i, to: i + 1 };
    const before = await entryAt(trees, stateAt(steps, i, turn).work, path);
    const after = await entryAt(trees, stateAt(steps, i + 1, turn).work, path);
    if (before?.id === after?.id && before?.mode === after?.mode) continue;
    const rival = rivals.find((claim) => overlap(claim, one)) ?? null;
    const previous = parts.at(-1);
    if (previous && previous.rival === null && rival === null && previous.to === i) previous.to = i + 1;
    else parts.push({ ...one, rival });
  }
  return parts;
}

function overlap(a: Window, b: Window): boolean {
  return a.from < b.to && a.to > b.from;
}

function changeOf(steps: readonly Step[], { from, to }: Window, turn: FoundTurn): Omit<Change, "paths"> {
  const name = turn.subagent === null ? `turn-${turn.last.id}` : `subagent-${turn.last.id}`;
  return { before: stateAt(steps, from, turn), after: stateAt(steps, to, turn), name };
}

/** A step's state, with what is known about missing files, limited to `paths` unless null. */
export function pastState({ snapshot }: Step, paths: readonly string[] | null): PastState {
  const { work, raw, index, ignore, permissions, notCaptured: missed } = snapshot;
  const concerned = new Set(paths?.flatMap((path) => [path, ...parentsOf(path)]));
  const notCaptured = paths === null ? missed : missed.filter(({ path }) => concerned.has(path));
  return {
    work,
    raw,
    index,
    ...(ignore === undefined ? {} : { ignore }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(notCaptured.length === 0 ? {} : { notCaptured }),
  };
}

/**
 * Before the first recorded step, the index of the turn's last step stands in: nothing else is known about the start.
 */
function stateAt(steps: readonly Step[], at: number, turn: FoundTurn): TreeState {
  const step = steps[at];
  if (!step) return { work: turn.last.snapshot.index, raw: null };
  return { work: step.snapshot.work, raw: step.snapshot.raw };
}
