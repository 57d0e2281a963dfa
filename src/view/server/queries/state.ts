/** What the page needs to know first: the version, the repository, and the names of agents. */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { listAgents } from "../../../api/agents.ts";
import { listRepositories } from "../../../api/repositories.ts";
import { pendingKeys } from "../../../checkpoints/write/pending.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { listSessions } from "../../../recording/session/store.ts";
import { activeRestores } from "../../../restore/apply/restore-log.ts";
import { stepsIn } from "../../../steps/log.ts";
import type { Repository, State } from "../../protocol.ts";
import type { Context } from "../routes.ts";

export async function state({ repository, version, instance, readOnly }: Context): Promise<State> {
  return {
    version,
    instance,
    readOnly,
    exportedAt: null,
    repository: repositoryRow(repository),
    agents: Object.fromEntries((await listAgents()).map(({ profile }) => [profile.id, profile.display_name])),
    available: { search: true, report: false, proposals: true },
    redo: activeRestores(repository.workspace).length > 0,
  };
}

/** This one, and every other one that the search index knows. */
export async function repositories({ repositories }: Context): Promise<{ repositories: Repository[] }> {
  for (const workspace of await listRepositories().catch(() => [])) repositories.know(workspace);
  return { repositories: repositories.known().map(repositoryRow) };
}

function repositoryRow({ id, workspace }: { id: string; workspace: Workspace }): Repository {
  const sessions = listSessions(workspace);
  const newest = stepsIn(workspace).newest();
  const lastHere = () => stepsIn(workspace).newest({ worktree: workspace.worktree });
  return {
    id,
    name: basename(workspace.root),
    root: workspace.root,
    kind: workspace.kind === "repository" ? "git" : "folder",
    branch: branchIn(workspace) ?? lastHere()?.branch ?? null,
    working: sessions.filter(({ openTurn }) => openTurn !== null).length,
    waiting: sessions.filter(({ openTurn, phase }) => openTurn === null && phase !== "ENDED").length,
    pending: pendingCount(workspace),
    lastTurn: newest?.time ?? null,
  };
}

const BRANCH = /^ref: refs\/heads\/(.+)\n?$/;

/** The branch that is checked out; undefined if HEAD is detached or git keeps it in another format than files. */
function branchIn({ kind, gitDir, refStorage }: Workspace): string | undefined {
  if (kind !== "repository" || refStorage !== "files") return undefined;
  try {
    return BRANCH.exec(readFileSync(join(gitDir, "HEAD"), "utf8"))?.[1];
  } catch {
    return undefined;
  }
}

function pendingCount(workspace: Workspace): number {
  return pendingKeys(workspace).length;
}
