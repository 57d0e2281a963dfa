/** Opens the repository for commands about commits. Also accepts a repository that only another tool has recorded. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findWorkspace, isEnabled, type Workspace } from "../../git/workspace.ts";
import type { Io } from "../terminal/io.ts";
import { openForReading } from "./workspace.ts";

export async function openRepository(io: Io): Promise<Workspace> {
  const workspace = findWorkspace(io.cwd);
  const recorded = workspace && (isEnabled(workspace) || existsSync(join(workspace.storeDir, "steps.jsonl")));
  return workspace?.kind === "repository" && !recorded ? workspace : openForReading(io);
}
