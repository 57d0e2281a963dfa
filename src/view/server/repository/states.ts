/** The states that the page can name, and their trees: steps, commits, the sides of a fork, the current files. */
import { UserError } from "../../../base/errors.ts";
import { looksLikeStepId } from "../../../base/ids.ts";
import { loadConfig } from "../../../config/load.ts";
import { gitIn } from "../../../git/git.ts";
import type { Step } from "../../../model/step.ts";
import { captureOptions } from "../../../recording/dispatcher.ts";
import { listSessions } from "../../../recording/session/store.ts";
import { currentSnapshot } from "../../../steps/diff.ts";
import { listForks } from "../../../steps/forks.ts";
import type { Query } from "../queries/query.ts";
import type { OpenRepository } from "./open.ts";

export interface TreePairOf {
  from: string;
  /** Null: the current files. */
  to: string | null;
  before: string | null;
  after: string;
}

const COMMIT = /^commit:([0-9a-f]{40,64})$/;
/** The files as they are now, where the earlier of two states is named. */
export const CURRENT_FILES = "files";
const FORK_BASE = /^fork-base:([k-z]{12})$/;
const TREE = /^tree:([0-9a-f]{40,64})$/;

/** Both trees of a comparison: those around a turn or a subagent, or two states. */
export async function comparedTrees(repository: OpenRepository, query: Query): Promise<TreePairOf> {
  const turn = query.text("turn");
  if (turn !== null) return treesAround(repository, turn);
  const from = query.required("from");
  const to = query.text("to");
  const before = await treeOfState(repository, from);
  const after = to === null ? await currentTree(repository) : await treeOfState(repository, to);
  return { from, to, before, after };
}

/** A turn is compared with its start. While it runs in this work tree, the current files count. */
async function treesAround(repository: OpenRepository, id: string): Promise<TreePairOf> {
  const group = repository.indexWithMark().turns.of(id);
  const named = group?.steps.find((step) => step.id === id);
  if (!group || !named) throw expired();
  const isSubagent = named.kind === "task" && named.subagent !== null;
  const last = isSubagent ? named : (group.steps.find(({ kind }) => kind === "turn-end") ?? group.steps[0]);
  const first = isSubagent
    ? group.steps.findLast(({ subagent }) => subagent?.id === named.subagent?.id && subagent?.when === "start")
    : group.steps.findLast(({ kind }) => kind === "turn-start");
  if (!first) throw new UserError("not-found", "The state before this turn is not recorded.");
  const before = first.snapshot.work;
  if (!isSubagent && isRunning(repository, first))
    return { from: first.id, to: null, before, after: await currentTree(repository) };
  return { from: first.id, to: last.id, before, after: last.snapshot.work };
}

function isRunning({ workspace }: OpenRepository, { id, worktree }: Step): boolean {
  return worktree === workspace.worktree && listSessions(workspace).some(({ openTurn }) => openTurn?.startStep === id);
}

export async function treeOfState(repository: OpenRepository, state: string): Promise<string> {
  if (state === CURRENT_FILES) return currentTree(repository);
  if (looksLikeStepId(state)) return repository.step(state).snapshot.work;
  const commit = COMMIT.exec(state)?.[1];
  if (commit !== undefined) return treeOfCommit(repository, commit);
  const fork = FORK_BASE.exec(state)?.[1];
  const record = fork === undefined ? undefined : listForks(repository.workspace).find(({ id }) => id === fork);
  if (record) return record.base.work;
  const tree = TREE.exec(state)?.[1];
  if (tree !== undefined && repository.shownTrees.has(tree)) return tree;
  throw expired();
}

export async function currentTree({ workspace }: OpenRepository): Promise<string> {
  return (await currentSnapshot(workspace, captureOptions(loadConfig(workspace)))).work;
}

async function treeOfCommit({ workspace }: OpenRepository, commit: string): Promise<string> {
  const tree = await gitIn(workspace).resolve(`${commit}^{tree}`);
  if (tree !== null) return tree;
  throw new UserError("not-found", "This commit is not in the repository.");
}

function expired(): UserError {
  return new UserError("not-found", "This state is not recorded here, or it has expired.");
}
