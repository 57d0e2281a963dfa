/** What a restore leaves as it is beside the files: commits and what is staged, and all that the ledger knows of. */
import { plural, shownPath } from "../base/text.ts";
import { gitLocation } from "../git/location.ts";
import { tryGit } from "../git/run.ts";
import type { Snapshot } from "../git/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import type { NotCaptured, Step } from "../steps/model.ts";
import { coverage } from "./coverage.ts";
import { stretchesSince, stretchOf } from "./deeds.ts";
import type { RestoreRequest } from "./draw-up.ts";
import { groundAt } from "./ground.ts";
import { headMove } from "./head-move.ts";
import type { NotUndone } from "./model.ts";
import { WHY_MISSED } from "./plan.ts";
import { commitsBetween, type MadeInGit } from "./refs-since.ts";
import { stateOf } from "./state.ts";

const SHOWN_COMMITS = 3;
const SHOWN_MISSED = 20;

/** Most of it can be told before the present is known. */
export async function notUndoneElsewhere(
  workspace: Workspace,
  looking: Promise<Snapshot>,
  request: RestoreRequest,
): Promise<NotUndone[]> {
  const { kind, target, options, merge } = request;
  if (target.kind === "turns") {
    const rows: NotUndone[] = [];
    for (const turn of target.turns) {
      const { first, last, subagent } = turn;
      const made = subagent === null ? await commits(workspace, first?.head ?? null, last.head) : [];
      const span = { from: Date.parse((first ?? last).time), to: Date.parse(last.time) };
      rows.push(...missed(workspace, first?.snapshot.notCaptured ?? [], last.snapshot.notCaptured));
      rows.push(...(await coverage(workspace, stretchOf(turn), span, made)));
    }
    return rows;
  }
  const committing = looking.then((present) =>
    merge || headMove(present, target, options) ? [] : commits(workspace, stateOf(target).head, present.head),
  );
  const isRewind = target.kind === "step" && kind === "rewind";
  const telling = isRewind
    ? coveredSince(workspace, target.step, committing)
    : committing.then((made) => made.map(({ what, why }) => ({ what, why })));
  const [present, made, told] = await Promise.all([looking, committing, telling]);
  const rows: NotUndone[] = [];
  if (made.length > 0 && options.resetHead)
    rows.push({ what: "The branch", why: "another branch was checked out then, so it is not moved" });
  if (isRewind) rows.push(...missed(workspace, target.step.snapshot.notCaptured, present.notCaptured));
  rows.push(...told);
  return made.length > 0 ? [...rows, ...(await stagedNow(workspace, present))] : rows;
}

function coveredSince(workspace: Workspace, step: Step, made: Promise<readonly MadeInGit[]>): Promise<NotUndone[]> {
  const span = { from: Date.parse(step.time), to: Number.POSITIVE_INFINITY };
  return coverage(workspace, stretchesSince(workspace, step), span, made);
}

/**
 * What no step could hold, and was not like that before: a submodule that was worked in, a file too large; or was there
 * before, and is gone.
 */
function missed({ root }: Workspace, before: readonly NotCaptured[], after: readonly NotCaptured[]): NotUndone[] {
  const known = new Set(before.map(({ path }) => path));
  const fresh = after.filter(({ path }) => !known.has(path)).slice(0, SHOWN_MISSED);
  const still = new Set(after.map(({ path }) => path));
  const gone = before.filter(({ path }) => !still.has(path) && groundAt(root).at(path) === "nothing");
  return [
    ...fresh.map(({ path, why }) => ({ what: shownPath(path), why: WHY_MISSED[why] })),
    ...gone.slice(0, SHOWN_MISSED).map(({ path, why }) => ({
      what: shownPath(path),
      why: `it is gone, and can't be brought back: ${WHY_MISSED[why]}`,
    })),
  ];
}

async function commits(workspace: Workspace, from: string | null, to: string | null): Promise<MadeInGit[]> {
  if (workspace.kind === "private" || to === null || from === to) return [];
  const named = await commitsBetween(workspace, from, to, SHOWN_COMMITS);
  const what = from === null ? "All commits" : await counted(workspace, from, to);
  const why = ["commits stay, and the branch does not move", ...(named.length > 0 ? [named.join(", ")] : [])].join(
    ": ",
  );
  return [{ made: "commit", what, why }];
}

async function counted(workspace: Workspace, from: string, to: string): Promise<string> {
  const { args, cwd } = gitLocation(workspace);
  const result = await tryGit([...args, "rev-list", "--count", `${from}..${to}`], { cwd });
  const count = Number(result.stdout.toString("latin1").trim());
  const since = shownPath(from.slice(0, 8));
  if (result.code !== 0 || !(count > 0)) return `HEAD (${to.slice(0, 8)}, then ${since})`;
  return `${plural(count, "commit")} since ${since}`;
}

async function stagedNow(workspace: Workspace, present: Snapshot): Promise<NotUndone[]> {
  const headTree = present.head === null ? null : await treeOf(workspace, present.head);
  if (headTree === present.index && present.unmerged.length === 0) return [];
  return [{ what: "What is staged", why: "the branch was at another commit then" }];
}

export async function treeOf(workspace: Workspace, commit: string): Promise<string> {
  const { args, cwd } = gitLocation(workspace);
  return (await tryGit([...args, "rev-parse", "--verify", "--quiet", `${commit}^{tree}`], { cwd })).stdout
    .toString("latin1")
    .trim();
}
