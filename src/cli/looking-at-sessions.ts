/** Where commands that look at sessions work: also outside of enabled repositories, where there may be runs. */
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import { logsDirectory } from "../run/layout.ts";
import type { SessionNode } from "../run/sessions/model.ts";
import { sessionTree } from "../run/sessions/tree.ts";
import type { Io } from "./io.ts";
import { withProgress } from "./progress.ts";
import { lookIntoWorkspace } from "./workspace.ts";

export interface KnownSessions {
  /** Undefined where nothing is recorded. */
  workspace: Workspace | undefined;
  nodes: SessionNode[];
}

export async function knownSessions(io: Io): Promise<KnownSessions> {
  const found = findWorkspace(io.cwd);
  const workspace = found && isEnabled(found) ? await lookIntoWorkspace(io) : undefined;
  const logs = logsDirectory(io.cwd, io.environment);
  const nodes = await withProgress(io, "Reading the sessions", () => sessionTree(workspace ?? found, logs));
  return { workspace, nodes };
}
