/** Finds the commits that turns' changes are in. Asked for apart from the timeline, because it takes several git processes. */
import { committedFiles, linkedCommits } from "../../../../checkpoints/links/committed-files.ts";
import { checkpointsOfSession, type LinkedCommit } from "../../../../checkpoints/links/history.ts";
import type { Workspace } from "../../../../git/workspace.ts";
import { changedPaths } from "../../../../model/changes.ts";
import type { Step } from "../../../../model/step.ts";
import type { Context } from "../../routes.ts";
import type { Query } from "../query.ts";

const MAX_TURNS = 200;
const MAX_SESSIONS = 50;
/** Clocks of git have seconds. */
const SECOND = 1_000;

export async function turnCommits({ repository }: Context, query: Query): Promise<{ commits: Record<string, string> }> {
  const { turns } = repository.indexWithMark();
  const ids = query.list("turns").slice(0, MAX_TURNS);
  const linked = repository.workspace.kind === "private" ? [] : await linkedCommits(repository.workspace);
  const commits: Record<string, string> = {};
  if (linked.length === 0) return { commits };
  const finder = new Finder(repository.workspace, linked);
  for (const id of ids) {
    const steps = turns.of(id)?.steps ?? [];
    const end = steps.find(({ kind }) => kind === "turn-end");
    const start = steps.findLast(({ kind }) => kind === "turn-start");
    const found = end ? await finder.find(end, start ?? end) : null;
    if (found !== null) commits[id] = found;
  }
  return { commits };
}

class Finder {
  readonly #workspace: Workspace;
  /** Oldest first. */
  readonly #linked: readonly LinkedCommit[];
  readonly #bySession = new Map<string, LinkedCommit[]>();
  readonly #files = new Map<string, readonly string[]>();

  constructor(workspace: Workspace, linked: readonly LinkedCommit[]) {
    this.#workspace = workspace;
    this.#linked = linked;
  }

  /** The first commit linked to the session, made after the turn began, that has one of the turn's files. */
  async find(end: Step, start: Step): Promise<string | null> {
    const files = new Set(changedPaths(end.files));
    if (files.size === 0 || end.session === null) return null;
    for (const { id, time } of await this.#commitsOf(end.session)) {
      if (Date.parse(time) + SECOND < Date.parse(start.time)) continue;
      if ((await this.#filesOf(id)).some((file) => files.has(file))) return id;
    }
    return null;
  }

  async #commitsOf(session: string): Promise<LinkedCommit[]> {
    const known = this.#bySession.get(session);
    if (known || this.#bySession.size >= MAX_SESSIONS) return known ?? [];
    const checkpoints = new Set(await checkpointsOfSession(this.#workspace, session));
    const own = this.#linked.filter((commit) => commit.checkpoints.some((id) => checkpoints.has(id)));
    this.#bySession.set(session, own);
    return own;
  }

  async #filesOf(commit: string): Promise<readonly string[]> {
    const known = this.#files.get(commit) ?? (await committedFiles(this.#workspace, commit));
    this.#files.set(commit, known);
    return known;
  }
}
