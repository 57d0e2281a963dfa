/** Where commands that look at commits work: also in a repository that another tool has recorded. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import type { Io } from "./io.ts";
import { lookIntoWorkspace } from "./workspace.ts";

export async function lookIntoHistory(io: Io): Promise<Workspace> {
  const workspace = findWorkspace(io.cwd);
  const recorded = workspace && (isEnabled(workspace) || existsSync(join(workspace.storeDir, "steps.jsonl")));
  return workspace?.kind === "repository" && !recorded ? workspace : lookIntoWorkspace(io);
}
