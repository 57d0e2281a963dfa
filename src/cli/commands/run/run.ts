/**
 * `run`: runs an agent without a terminal. Prints three lines of JSON on stdout and messages on stderr, and exits with
 * the agent's own status.
 */
import { plural } from "../../../base/text.ts";
import { findWorkspace, isEnabled } from "../../../git/workspace.ts";
import { runWorktrees } from "../../../git/worktrees/runs.ts";
import { logsDirectory } from "../../../run/log/layout.ts";
import { openWorkspace } from "../../shared/workspace.ts";
import { EXIT } from "../../terminal/exit.ts";
import type { Io } from "../../terminal/io.ts";
import { type RunOptions, requestOf } from "./request.ts";
import { runOne } from "./single.ts";
import { promptFrom } from "./standard-input.ts";

export async function run(options: RunOptions, io: Io): Promise<number> {
  const logs = logsDirectory(io.cwd, io.environment);
  if (options.list) return list(logs, io);
  await repair(io);
  if (options.prompts !== undefined || options.parallel !== undefined) {
    const { runBatch } = await import("./batch.ts");
    return runBatch(options, logs, io);
  }
  const prompt = await promptFrom(options.prompt, io);
  const request = await requestOf({ ...options, ...(prompt !== undefined && { prompt }) }, logs, io);
  if (!options.worktree) return runOne(request, options, io);
  const { inWorktree } = await import("./worktree.ts");
  return runOne(await inWorktree(request, io), options, io);
}

/** The agent must not start in files that a killed restore left half written. Where nothing is recorded, there are none. */
async function repair(io: Io): Promise<void> {
  const workspace = findWorkspace(io.cwd);
  if (workspace && isEnabled(workspace)) await openWorkspace(io);
}

async function list(logs: string, io: Io): Promise<number> {
  const [{ readTree }, { listLines }] = await Promise.all([
    import("../../../run/log/tree.ts"),
    import("../../../run/log/list.ts"),
  ]);
  const lines = listLines(await readTree(logs));
  if (lines.length === 0) io.say(`No sessions in ${logs}.`);
  // Print in one write: there may be thousands of lines.
  if (lines.length > 0) io.print(lines.join("\n"));
  const workspace = findWorkspace(io.cwd);
  const left = workspace ? runWorktrees(workspace).length : 0;
  if (left > 0) io.say(io.err.paint("dim", `${plural(left, "worktree")} of runs: \`backtrail sessions\` shows them.`));
  return EXIT.done;
}
