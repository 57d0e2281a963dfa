/** `run`: an agent without a terminal. Three lines of JSON on stdout, talk on stderr, the agent's own exit status. */
import { plural } from "../../base/text.ts";
import { runWorktrees } from "../../git/run-worktrees.ts";
import { findWorkspace } from "../../git/workspace.ts";
import { logsDirectory } from "../../run/layout.ts";
import { EXIT } from "../exit.ts";
import type { Io } from "../io.ts";
import { type RunOptions, requestOf } from "../running/request.ts";
import { performOne } from "../running/single.ts";
import { promptFrom } from "../running/standard-input.ts";

export async function run(options: RunOptions, io: Io): Promise<number> {
  const logs = logsDirectory(io.cwd, io.environment);
  if (options.list) return list(logs, io);
  if (options.prompts !== undefined || options.parallel !== undefined) {
    const { performAll } = await import("../running/batch.ts");
    return performAll(options, logs, io);
  }
  const prompt = await promptFrom(options.prompt, io);
  const request = await requestOf({ ...options, ...(prompt !== undefined && { prompt }) }, logs, io);
  if (!options.worktree) return performOne(request, options, io);
  const { inWorktree } = await import("../running/worktree.ts");
  return performOne(await inWorktree(request, io), options, io);
}

async function list(logs: string, io: Io): Promise<number> {
  const [{ readTree }, { listLines }] = await Promise.all([import("../../run/tree.ts"), import("../../run/list.ts")]);
  const lines = listLines(await readTree(logs));
  if (lines.length === 0) io.say(`No sessions in ${logs}.`);
  // One write: there may be thousands.
  if (lines.length > 0) io.print(lines.join("\n"));
  const workspace = findWorkspace(io.cwd);
  const left = workspace ? runWorktrees(workspace).length : 0;
  if (left > 0) io.say(io.err.paint("dim", `${plural(left, "worktree")} of runs: \`backtrail sessions\` shows them.`));
  return EXIT.done;
}
