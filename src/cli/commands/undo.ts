/** `undo`: takes turns out of the files and keeps what came later. */
import { applyUndo, planUndo } from "../../restore/undo.ts";
import type { Io } from "../io.ts";
import { withProgress } from "../progress.ts";
import { carryOut } from "../restoring.ts";
import { openWorkspace } from "../workspace.ts";

interface Options {
  turns: string[];
  conflicts?: "refuse" | "markers";
  tellAgent?: boolean;
  reason?: string;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<number | undefined> {
  const workspace = await openWorkspace(io);
  const { turns, conflicts, reason } = options;
  const tellAgent = options.tellAgent === true || reason !== undefined;
  const chosen = { markers: conflicts === "markers", tellAgent, reason };
  const plan = await withProgress(io, "Looking at what has changed", () => planUndo(workspace, turns, chosen));
  return carryOut(io, plan, options, () => applyUndo(workspace, plan));
}
