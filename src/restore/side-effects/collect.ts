/** Collects what a restore does not undo besides files: commits, the index, and everything in the ledger. */
import { listAgents } from "../../agents/registry/registry.ts";
import { pathMatcher } from "../../base/fs/glob.ts";
import { gitIn } from "../../git/git.ts";
import { recordedList } from "../../git/ignored/list.ts";
import { scanIgnored } from "../../git/ignored/scan.ts";
import { recordedRules } from "../../git/snapshot/ignore-rules.ts";
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { NotCaptured, Step } from "../../model/step.ts";
import { headMove } from "../plan/head-move.ts";
import type { RestoreRequest } from "../plan/plan.ts";
import { stateOf } from "../plan/state.ts";
import { workTreeView } from "../plan/work-tree.ts";
import type { FoundTurn } from "../targets/turns.ts";
import { stretchesSince, stretchOf } from "./actions.ts";
import type { IgnoredSpan } from "./file-effects.ts";
import { commitsBetween, type Span } from "./git-refs.ts";
import { coverage } from "./ledger.ts";
import type { GitChanges, SideEffect } from "./model.ts";

const SHOWN_COMMITS = 3;
const SHOWN_MISSED = 20;

/** Most of this runs before the current snapshot is ready. */
export async function notUndoneElsewhere(
  workspace: Workspace,
  looking: Promise<Snapshot>,
  request: RestoreRequest,
): Promise<SideEffect[]> {
  const { kind, target, options, merge } = request;
  if (target.kind === "turns") {
    const rows: SideEffect[] = [];
    for (const turn of target.turns) rows.push(...(await turnEffects(workspace, turn)));
    return rows;
  }
  const committing = looking.then((present) =>
    (merge && kind !== "rewind") || headMove(present, target, options)
      ? []
      : commits(workspace, stateOf(target).head, present.head),
  );
  const isRewind = target.kind === "step" && kind === "rewind";
  const telling = isRewind ? coveredSince(workspace, target.step, committing) : committing;
  const [present, made, recorded] = await Promise.all([looking, committing, telling]);
  const rows: SideEffect[] = [];
  if (made.length > 0 && options.resetHead) rows.push({ kind: "branch-not-moved" });
  if (isRewind) rows.push(...missed(workspace, target.step.snapshot.notCaptured, present.notCaptured));
  rows.push(...recorded);
  return made.length > 0 ? [...rows, ...(await stagedNow(workspace, present))] : rows;
}

/** What undoing a turn does not undo. */
export async function turnEffects(workspace: Workspace, turn: FoundTurn): Promise<SideEffect[]> {
  const { first, last, subagent } = turn;
  const made = subagent === null ? await commits(workspace, first?.head ?? null, last.head) : [];
  const span = { from: Date.parse((first ?? last).time), to: Date.parse(last.time) };
  return [
    ...missed(workspace, first?.snapshot.notCaptured ?? [], last.snapshot.notCaptured),
    ...(await coverage(workspace, stretchOf(turn), span, made, ignoredBetween(workspace, turn, span))),
  ];
}

function coveredSince(workspace: Workspace, step: Step, made: Promise<readonly GitChanges[]>): Promise<SideEffect[]> {
  const span = { from: Date.parse(step.time), to: Number.POSITIVE_INFINITY };
  return coverage(workspace, stretchesSince(workspace, step), span, made, ignoredSince(workspace, step, span));
}

async function ignoredSince(workspace: Workspace, step: Step, { from }: Span): Promise<IgnoredSpan> {
  const before = recordedList(workspace, step.snapshot.ignoredFiles);
  const after = before && (await scanIgnored(workspace));
  return { before, after, from, isSkipped: await heldOrProtected(workspace, step) };
}

/** The list in a turn's last step may predate the turn, so files that the turn created are found by their times. */
async function ignoredBetween(workspace: Workspace, { first, last }: FoundTurn, span: Span): Promise<IgnoredSpan> {
  const before = recordedList(workspace, first?.snapshot.ignoredFiles);
  const then = recordedList(workspace, last.snapshot.ignoredFiles);
  const { from, to } = span;
  const isSkipped = await heldOrProtected(workspace, first);
  if (!before || !then) return { before, after: undefined, from, isSkipped };
  const now = await scanIgnored(workspace);
  const made = [...now.entries].filter(([, entry]) => entry && entry.changed >= from && entry.changed <= to);
  const after = { cut: then.cut || now.cut, entries: new Map([...made, ...then.entries]) };
  return { before, after, from, isSkipped };
}

/** Matches ignored files that steps capture by configuration, and agents' own files, which restores never touch. */
async function heldOrProtected(workspace: Workspace, step: Step | null): Promise<IgnoredSpan["isSkipped"]> {
  const directories = (await listAgents()).flatMap(({ profile }) => profile.protected_dirs);
  const held = recordedRules(workspace, step?.snapshot.ignore)?.include ?? [];
  return pathMatcher([...held, ...directories.map((directory) => `/${directory}`)]);
}

/**
 * Paths that no step could capture: new ones, such as a changed submodule or an oversized file, and old ones that have
 * since been deleted.
 */
function missed({ root }: Workspace, before: readonly NotCaptured[], after: readonly NotCaptured[]): SideEffect[] {
  const known = new Set(before.map(({ path }) => path));
  const fresh = after.filter(({ path }) => !known.has(path)).slice(0, SHOWN_MISSED);
  const still = new Set(after.map(({ path }) => path));
  const gone = before.filter(({ path }) => !still.has(path) && workTreeView(root).at(path) === "nothing");
  return [
    ...fresh.map(({ path, why }) => ({ kind: "not-captured" as const, path, reason: why, isGone: false })),
    ...gone
      .slice(0, SHOWN_MISSED)
      .map(({ path, why }) => ({ kind: "not-captured" as const, path, reason: why, isGone: true })),
  ];
}

async function commits(workspace: Workspace, from: string | null, to: string | null): Promise<GitChanges[]> {
  if (workspace.kind === "private" || to === null || from === to) return [];
  const newest = await commitsBetween(workspace, from, to, SHOWN_COMMITS);
  return [{ kind: "commits", from, to, count: from === null ? null : await counted(workspace, from, to), newest }];
}

async function counted(workspace: Workspace, from: string, to: string): Promise<number | null> {
  const result = await gitIn(workspace).try(["rev-list", "--count", `${from}..${to}`]);
  const count = Number(result.stdout.toString("latin1").trim());
  return result.code === 0 && count > 0 ? count : null;
}

async function stagedNow(workspace: Workspace, present: Snapshot): Promise<SideEffect[]> {
  const headTree = present.head === null ? null : await treeOf(workspace, present.head);
  if (headTree === present.index && present.unmerged.length === 0) return [];
  return [{ kind: "staged", files: null }];
}

export async function treeOf(workspace: Workspace, commit: string): Promise<string> {
  return (await gitIn(workspace).resolve(`${commit}^{tree}`)) ?? "";
}
