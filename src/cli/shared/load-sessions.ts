/** Loads the sessions for commands. Also works outside of enabled repositories, where runs may exist. */
import { findWorkspace, isEnabled, type Workspace } from "../../git/workspace.ts";
import { logsDirectory } from "../../run/log/layout.ts";
import type { SessionNode } from "../../run/sessions/model.ts";
import { sessionTree } from "../../run/sessions/tree.ts";
import type { Io } from "../terminal/io.ts";
import { withProgress } from "../terminal/progress.ts";
import { openForReading } from "./workspace.ts";

export interface LoadedSessions {
  /** Undefined if nothing is recorded. */
  workspace: Workspace | undefined;
  nodes: SessionNode[];
}

export async function loadSessions(io: Io): Promise<LoadedSessions> {
  const found = findWorkspace(io.cwd);
  const workspace = found && isEnabled(found) ? await openForReading(io) : undefined;
  const logs = logsDirectory(io.cwd, io.environment);
  const nodes = await withProgress(io, "Reading the sessions", () => sessionTree(workspace ?? found, logs));
  return { workspace, nodes };
}
