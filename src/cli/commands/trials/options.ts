/** Shared by the commands that try a command in a temporary copy: their options, and texts for the results. */
import { relative } from "node:path";
import { UserError } from "../../../base/errors.ts";
import { tryGit } from "../../../git/run.ts";
import type { Workspace } from "../../../git/workspace.ts";
import type { Experiment, Outcome } from "../../../steps/results/types.ts";
import { checkedPath } from "../../../trials/bisect/bisect.ts";
import type { Io, Paint } from "../../terminal/io.ts";

export interface ExperimentOptions {
  command?: string[];
  link?: string[];
  copy?: string[];
  timeout?: number;
}

/** Directories of packages and builds that commands often need and git usually ignores. */
const USUALLY_NEEDED = ["node_modules", ".venv", "venv", "vendor", "target", ".env"];

export function trialFromOptions(workspace: Workspace, options: ExperimentOptions, io: Io): Experiment {
  const command = options.command ?? [];
  if (command.length === 0 || command[0] === "")
    throw new UserError("usage", "There is no command to run.", "Write it after --, for example: -- npm test");
  return {
    command,
    directory: relative(workspace.root, io.cwd) || ".",
    link: [...new Set((options.link ?? []).map(checkedPath))].sort(),
    copy: [...new Set((options.copy ?? []).map(checkedPath))].sort(),
    timeoutMs: options.timeout === undefined ? null : options.timeout * 1000,
  };
}

export function outcomeText({ verdict, code, why }: Outcome, paint: Paint): string {
  if (verdict === "pass") return paint("green", "passes");
  if (why === "no-directory") return paint("yellow", "inconclusive: the directory is missing");
  if (why === "no-program") return paint("yellow", "inconclusive: the program is missing");
  if (verdict === "skip") return paint("yellow", "inconclusive (exit 125)");
  if (why === "timeout") return paint("red", "fails (it took too long)");
  return paint("red", why === "signal" ? "fails (ended by a signal)" : `fails (exit ${code})`);
}

export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** Ignored paths that exist here but not in the copies, and may be why everything fails. */
export async function missingInCopies(workspace: Workspace, { link, copy }: Experiment): Promise<string[]> {
  if (workspace.kind === "private") return [];
  const given = new Set([...link, ...copy]);
  const candidates = USUALLY_NEEDED.filter((path) => !given.has(path));
  const ignored = await tryGit(["check-ignore", "--", ...candidates], { cwd: workspace.root });
  const { existsSync } = await import("node:fs");
  return ignored.stdout
    .toString("utf8")
    .split("\n")
    .filter((path) => path !== "" && existsSync(`${workspace.root}/${path}`));
}
