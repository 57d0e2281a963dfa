/**
 * Finds the step ranges that contain a turn's own changes. While a turn runs alone, every change to its files is its
 * own. While another session's turn has the same file, lines can't be attributed: that range is skipped and reported.
 */

import { partsOf } from "../../attribution/files.ts";
import { isAtWork, mayBeAtWork, type TurnWindow, turnWindows } from "../../attribution/turn-windows.ts";
import { parentsOf } from "../../base/fs/tree-paths.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import { entryAt, type TreeStore } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { runningTurns } from "../../recording/claims.ts";
import { stepsIn } from "../../steps/log.ts";
import type { FoundTurn } from "../targets/turns.ts";
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

interface OwnWindow extends Window {
  turn: FoundTurn;
  files: readonly string[];
  /** Separate work at the same time. */
  rivals: readonly TurnWindow[];
}

/** Adjacent or overlapping windows of one file, from turns that are all being reverted. */
interface JoinedWindow extends Window {
  windows: [OwnWindow, ...OwnWindow[]];
}

export async function ownChanges(
  workspace: Workspace,
  trees: TreeStore,
  turns: readonly FoundTurn[],
): Promise<OwnChanges> {
  const steps = stepsSince(workspace, turns);
  const at = new Map(steps.map((step, i) => [step.id, i]));
  const taken = new Set(turns.map(ownKey));
  const all = turnWindows(steps, await runningTurns(workspace));
  const others = all.filter((window) => !taken.has(ownKey(window)));
  const windows: OwnWindow[] = [];
  for (const turn of turns) {
    const range = { from: (turn.first && at.get(turn.first.id)) ?? -1, to: at.get(turn.last.id) ?? -1 };
    const separate = others.filter((window) => isSeparate(window, turn) && overlap(window, range));
    const rivals = separate.filter(({ files, to }) => files.size > 0 || to === Number.POSITIVE_INFINITY);
    // The turn that started a subagent may work alongside it and reports its files only at its end.
    const alone = rivals.length > 0 && turn.subagent === null;
    const own = all.filter((window) => ownKey(window) === ownKey(turn));
    const isAlone = (i: number) =>
      own.some((window) => isAtWork(window, i)) && !separate.some((window) => mayBeAtWork(window, i));
    const files = alone ? await transientFiles(trees, steps, range, turn, isAlone) : [];
    windows.push({ ...range, turn, rivals, files: [...new Set([...turn.files, ...files])] });
  }
  const groups = new Map<string, Change & { to: number; from: number }>();
  const shared = new Map<string, Conflict>();
  for (const [path, own] of windowsByPath(windows)) {
    for (const window of own) {
      const { turn } = window.windows[0];
      const rivals = [...new Set(window.windows.flatMap((one) => one.rivals))];
      const parts = await partsOf(window, rivals, path, (i) => isChanged(trees, steps, i, turn, path));
      for (const part of parts) {
        if (part.rival) {
          shared.set(path, { path, reason: { kind: "shared", by: sourceOf(part.rival) } });
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
  for (const step of stepsIn(workspace).newestFirst({ worktree: workspace.worktree })) {
    steps.push(step);
    ends.delete(step.id);
    if (ends.size === 0 && !endless) break;
  }
  return steps.reverse();
}

/** Identifies a turn, or a subagent: a subagent may end in a later turn than it began in. */
function ownKey(own: FoundTurn | TurnWindow): string {
  const { agent, session, turn } = "first" in own ? own : own.turn;
  return [agent, session, own.subagent ?? turn].join("\0");
}

/** Separate work: a turn's own subagents are part of the turn. */
function isSeparate({ turn, subagent }: TurnWindow, own: FoundTurn): boolean {
  const isOther = turn.session !== own.session || turn.agent !== own.agent;
  return isOther || (subagent !== null && own.subagent !== null);
}

function sourceOf({ last, subagent, ended }: TurnWindow): ConflictSource {
  if (subagent !== null && last?.subagent) {
    const { description, type, id } = last.subagent;
    return { kind: "subagent", name: description ?? type ?? id };
  }
  return ended && last ? { kind: "turn", agent: last.agent ?? "", step: last.id } : { kind: "running-turn" };
}

/**
 * Files that a turn had only temporarily, as seen by steps of other turns: a file that it created and that another
 * turn moved or deleted is in neither its first nor its last step.
 */
async function transientFiles(
  trees: TreeStore,
  steps: readonly Step[],
  { from, to }: Window,
  turn: FoundTurn,
  isAlone: (at: number) => boolean,
): Promise<string[]> {
  const found = new Set<string>();
  for (let i = from; i < to; i++) {
    if (!isAlone(i)) continue;
    const [before, after] = [stateAt(steps, i, turn), stateAt(steps, i + 1, turn)];
    for (const { path } of await compareTrees(trees, before.work, after.work)) found.add(path);
  }
  return [...found];
}

/** The windows in which turns had each file; adjacent windows are joined. */
function windowsByPath(windows: readonly OwnWindow[]): Map<string, JoinedWindow[]> {
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

async function isChanged(
  trees: TreeStore,
  steps: readonly Step[],
  at: number,
  turn: FoundTurn,
  path: string,
): Promise<boolean> {
  const before = await entryAt(trees, stateAt(steps, at, turn).work, path);
  const after = await entryAt(trees, stateAt(steps, at + 1, turn).work, path);
  return before?.id !== after?.id || before?.mode !== after?.mode;
}

function overlap({ earliest, latest }: TurnWindow, range: Window): boolean {
  return earliest < range.to && latest > range.from;
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
 * Without an earlier step, uses the index of the turn's last step: nothing else is known about the start.
 */
function stateAt(steps: readonly Step[], at: number, turn: FoundTurn): TreeState {
  const step = steps[at];
  if (!step) return { work: turn.last.snapshot.index, raw: null };
  return { work: step.snapshot.work, raw: step.snapshot.raw };
}
