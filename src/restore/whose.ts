/**
 * Between which steps the changes lie that turns made themselves. While one turn runs alone, everything that happens to
 * its files is its own; while another session's turn has the same file, nobody can tell whose a line is: that stretch is
 * left out, and said.
 */
import { sessionKey } from "../base/ids.ts";
import { oneLine } from "../base/text.ts";
import { compareTrees } from "../git/tree-diff.ts";
import type { TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { runningTurnFiles } from "../lifecycle/claims.ts";
import { marked } from "../lifecycle/session-state.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import type { Step } from "../steps/model.ts";
import type { Conflict } from "./model.ts";
import { entryAt } from "./state.ts";
import type { Change, TreeState } from "./take-back.ts";
import { type FoundTurn, nameKey } from "./turns.ts";

export interface OwnChanges {
  /** The newest first. */
  changes: Change[];
  /** Files that another turn changed at the same time. */
  shared: Conflict[];
  /** Where later turns ended. */
  later: Step[];
}

/** From one step to a later one, as positions among the steps. */
interface Window {
  from: number;
  to: number;
}

interface TurnWindow extends Window {
  turn: FoundTurn;
  files: readonly string[];
}

/** Turns that had a file one after the other, or together, and are all to be taken back. */
interface JoinedWindow extends Window {
  windows: [TurnWindow, ...TurnWindow[]];
}

interface Claim extends Window {
  who: string;
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
    // Beside a subagent the one that started it may be at work, and says only at the turn's end what it did.
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
          shared.set(path, { path, why: `${oneLine(part.rival.who)} changed it at the same time` });
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
    changes: changes.map(({ before, after, paths, name }) => ({ before, after, paths, name })),
    shared: [...shared.values()],
    later: laterTurns(steps, turns),
  };
}

/** Ends of turns behind all of these. */
function laterTurns(steps: readonly Step[], turns: readonly FoundTurn[]): Step[] {
  const last = Math.max(...turns.map((turn) => steps.findIndex(({ id }) => id === turn.last.id)));
  return steps.slice(last + 1).filter(({ kind }) => kind === "turn-end");
}

/** Oldest first, from where the first of the turns began. */
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

/** What others say that they changed: turns of other sessions, other subagents of the same turn. */
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
    const files = new Set([...step.files.added, ...step.files.modified, ...step.files.deleted]);
    claims.push({ who: whoIs(step), session, subagent, files, from: began.get(key) ?? -1, to: i });
  }
  for (const key of marked(workspace, "active")) {
    const start = steps.findLastIndex(
      ({ agent, session, kind }) => kind === "turn-start" && sessionKey(agent ?? "", session ?? "") === key,
    );
    const files = new Set(await runningTurnFiles(workspace, key));
    claims.push({
      who: "a turn that is under way",
      session: key,
      subagent: null,
      files,
      from: start,
      to: steps.length,
    });
  }
  return claims;
}

/** At the same time, and not the same work: a turn's own subagents are part of it, and their files are the turn's too. */
function contends(claim: Claim, window: Window & { turn: FoundTurn }): boolean {
  if (!overlap(claim, window)) return false;
  const { session, subagent } = window.turn;
  return claim.session !== session || (claim.subagent !== null && subagent !== null);
}

function whoIs({ agent, turn, subagent }: Step): string {
  return subagent
    ? `another subagent (${subagent.description ?? subagent.type ?? subagent.id})`
    : `${agent}'s turn ${turn}`;
}

/**
 * Files that a turn had only for a while, as the steps of others saw it: one that it made, and that somebody else then
 * moved or removed, is in neither the turn's beginning nor its end.
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

/** When the turns had each of their files; windows that touch become one. */
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

/** The window in one piece; or, where somebody else has the file too, the pieces in which it changed and by whom. */
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
  const name = turn.subagent === null ? `turn-${turn.turn}` : `the-subagent-of-turn-${turn.turn}`;
  return { before: stateAt(steps, from, turn), after: stateAt(steps, to, turn), name };
}

/** Before everything recorded: what was staged in the end. There was nothing else to tell the turn's files by, either. */
function stateAt(steps: readonly Step[], at: number, turn: FoundTurn): TreeState {
  const step = steps[at];
  if (!step) return { work: turn.last.snapshot.index, raw: null };
  return { work: step.snapshot.work, raw: step.snapshot.raw };
}
