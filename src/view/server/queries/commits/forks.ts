/** Forks, and the comparison of two attempts. */
import { messageOf, UserError } from "../../../../base/errors.ts";
import { compareFork } from "../../../../restore/fork/compare.ts";
import { type ForkRecord, listForks } from "../../../../steps/forks.ts";
import type { Attempt, ForkComparison, ForkRow } from "../../../protocol.ts";
import type { OpenRepository } from "../../repository/open.ts";
import type { Redaction } from "../../repository/redaction.ts";
import type { Context } from "../../routes.ts";
import type { Query } from "../query.ts";

export async function forks({ repository }: Context): Promise<{ forks: ForkRow[] }> {
  const redaction = await repository.redaction(false);
  const records = listForks(repository.workspace).toReversed();
  return { forks: records.map((record) => forkRow(record, redaction)) };
}

export async function fork({ repository }: Context, query: Query): Promise<ForkComparison> {
  const id = query.required("id");
  const record = listForks(repository.workspace).find((one) => one.id === id);
  if (!record) throw new UserError("not-found", "This fork is not known here.");
  const row = forkRow(record, await repository.redaction(false));
  try {
    const { here, there } = await compareFork(repository.workspace, record);
    const side = (attempt: typeof here) => attemptOf(repository, record, attempt);
    return { fork: row, original: side(here), attempt: side(there), problem: null };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { fork: row, original: NO_ATTEMPT, attempt: null, problem: messageOf(error) };
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

export function forkRow(
  { id, name, kind, state, time, from, branch, directory, chat }: ForkRecord,
  redaction: Redaction,
): ForkRow {
  return {
    id,
    name,
    kind,
    state,
    time,
    from: from.step,
    prompt: from.prompt === null ? null : redaction.text(from.prompt),
    branch,
    directory,
    command: chat?.command ?? null,
  };
}
