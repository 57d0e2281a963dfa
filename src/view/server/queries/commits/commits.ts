/** Commits and the sessions behind them. */
import { UserError } from "../../../../base/errors.ts";
import { findCommit, type LinkedCommit, recentCommits } from "../../../../checkpoints/links/history.ts";
import { CheckpointReader } from "../../../../checkpoints/read/read.ts";
import { gitIn } from "../../../../git/git.ts";
import type { CommitDetails, CommitRow, CommitSession, Commits } from "../../../protocol.ts";
import { changedFiles } from "../../repository/changed-files.ts";
import type { OpenRepository } from "../../repository/open.ts";
import { treeOfState } from "../../repository/states.ts";
import type { StepGroup, TurnIndex } from "../../repository/turn-index.ts";
import type { Context } from "../../routes.ts";
import type { Query } from "../query.ts";

const USUAL_LIMIT = 50;
const MAX_LIMIT = 200;
const SHOWN_PROMPTS = 20;
const COMMIT = /^[0-9a-f]{40,64}$/;

export async function commits({ repository }: Context, query: Query): Promise<Commits> {
  const limit = query.number("limit", USUAL_LIMIT, MAX_LIMIT);
  const before = query.text("before");
  if (before !== null && !COMMIT.test(before)) throw new UserError("usage", "The parameter before is not a commit.");
  const found = await recentCommits(repository.workspace, limit + 1, false, before === null ? "HEAD" : `${before}^`);
  const shown = found.slice(0, limit);
  const sessions = await sessionsOf(repository, shown);
  return {
    commits: shown.map((commit) => ({ ...rowOf(commit), sessions: sessions.get(commit.id)?.sessions ?? [] })),
    next: found.length > limit ? (shown.at(-1)?.id ?? null) : null,
  };
}

export async function commit({ repository }: Context, query: Query): Promise<CommitDetails> {
  const id = query.required("id");
  const found = COMMIT.test(id) ? await findCommit(repository.workspace, id) : undefined;
  if (!found) throw new UserError("not-found", "This commit is not in the repository.");
  const format = ["show", "--no-patch", "--no-show-signature", "--format=%P%x00%b", found.id, "--"];
  const [parents = "", body = ""] = (await gitIn(repository.workspace).text(format)).split("\0");
  const [first] = parents.split(" ").filter((parent) => parent !== "");
  const tree = await treeOfState(repository, `commit:${found.id}`);
  const before = first === undefined ? null : await treeOfState(repository, `commit:${first}`);
  const told = (await sessionsOf(repository, [found])).get(found.id);
  const redaction = await repository.redaction(false);
  return {
    commit: {
      ...rowOf(found),
      body: redaction.text(body.trim()),
      parents: parents.split(" ").filter((parent) => parent !== ""),
    },
    sessions: told?.sessions ?? [],
    files: await changedFiles(repository.workspace, before, tree),
    problems: told?.problems ?? [],
  };
}

interface CommitSessions {
  sessions: CommitSession[];
  problems: string[];
}

async function sessionsOf(
  repository: OpenRepository,
  found: readonly LinkedCommit[],
): Promise<Map<string, CommitSessions>> {
  const redaction = await repository.redaction(false);
  const recorded = new Set(
    repository
      .indexWithMark()
      .turns.all()
      .map(({ session }) => session),
  );
  const reader = new CheckpointReader(repository.workspace);
  try {
    const told = new Map<string, CommitSessions>();
    for (const { id, checkpoints } of found) {
      const one: CommitSessions = { sessions: [], problems: [] };
      for (const checkpoint of checkpoints) {
        const stored = await reader.find(checkpoint).catch(() => undefined);
        if (!stored) one.problems.push(`Checkpoint ${checkpoint} is not here.`);
        for (const { metadata, prompts } of stored?.sessions ?? [])
          one.sessions.push({
            checkpoint,
            session: metadata.session_id,
            agent: metadata.agent,
            prompts: prompts.slice(0, SHOWN_PROMPTS).map((prompt) => redaction.text(prompt)),
            files: metadata.files_touched.length,
            here: recorded.has(metadata.session_id),
          });
      }
      told.set(id, one);
    }
    return told;
  } finally {
    reader.close();
  }
}

export function rowOf({ id, subject, author, time }: CommitRow): CommitRow {
  return { id, subject, author, time };
}

/** The commits made between a turn's start and the start of the next turn in its work tree. */
export async function commitsAfter(
  { workspace }: OpenRepository,
  turns: TurnIndex,
  { steps, position }: StepGroup,
): Promise<CommitRow[]> {
  if (workspace.kind === "private") return [];
  const [newest] = steps;
  const from = steps.at(-1)?.head ?? null;
  let to = newest.head;
  // A later step of this work tree knows the commit that the user made after the turn.
  for (let at = position - 1; at >= 0; at--) {
    const later = turns.at(at)?.steps.at(-1);
    if (later?.worktree !== newest.worktree) continue;
    to = later.head;
    break;
  }
  if (to === null || from === null || to === from || !COMMIT.test(to) || !COMMIT.test(from)) return [];
  return (await recentCommits(workspace, 5, false, `${from}..${to}`)).map(rowOf);
}
