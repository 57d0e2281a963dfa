/** Forks, and the comparison of two attempts. */
import { messageOf, UserError } from "../../../../base/errors.ts";
import { compareFork } from "../../../../restore/fork/compare.ts";
import { type ForkRecord, listForks } from "../../../../steps/forks.ts";
import type { Attempt, ForkComparison, ForkRow } from "../../../protocol.ts";
import type { OpenRepository } from "../../repository/open.ts";
import type { Context } from "../../routes.ts";
import type { Query } from "../query.ts";

export async function forks({ repository }: Context): Promise<{ forks: ForkRow[] }> {
  return { forks: listForks(repository.workspace).toReversed().map(forkRow) };
}

export async function fork({ repository }: Context, query: Query): Promise<ForkComparison> {
  const id = query.required("id");
  const record = listForks(repository.workspace).find((one) => one.id === id);
  if (!record) throw new UserError("not-found", "This fork is not known here.");
  try {
    const { here, there } = await compareFork(repository.workspace, record);
    const side = (attempt: typeof here) => attemptOf(repository, record, attempt);
    return { fork: forkRow(record), original: side(here), attempt: side(there), problem: null };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { fork: forkRow(record), original: NO_ATTEMPT, attempt: null, problem: messageOf(error) };
  }
}

const NO_ATTEMPT: Attempt = {
  base: "",
  state: "",
  files: { added: [], modified: [], deleted: [] },
  lines: { added: 0, deleted: 0 },
  turns: 0,
  tokens: null,
  cost: null,
  seconds: 0,
};

function attemptOf(
  repository: OpenRepository,
  record: ForkRecord,
  { tree, ...attempt }: Omit<Attempt, "base" | "state"> & { tree: string },
): Attempt {
  repository.shownTrees.add(tree);
  return { base: `fork-base:${record.id}`, state: `tree:${tree}`, ...attempt };
}

export function forkRow({ id, name, kind, state, time, from, branch, directory, chat }: ForkRecord): ForkRow {
  return {
    id,
    name,
    kind,
    state,
    time,
    from: from.step,
    prompt: from.prompt,
    branch,
    directory,
    command: chat?.command ?? null,
  };
}
