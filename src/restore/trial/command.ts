/** Runs a command in a throwaway copy, in a process group of its own, and reads its exit status as git bisect does. */
import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf, UserError } from "../../base/errors.ts";
import { processStart } from "../../base/processes.ts";
import { oneLine, shorten } from "../../base/text.ts";
import { environmentForOthers } from "../../git/run.ts";
import type { Experiment, Outcome } from "./model.ts";
import { killGroup, type TrialRecord } from "./record.ts";

const SKIP = 125;
/** Between asking a command to end and ending it. */
const GRACE_MS = 2_000;

export interface RunOptions {
  /** Where its output goes: nowhere, or to this file descriptor. */
  output: "ignore" | number;
  stop: AbortSignal;
  started(child: TrialRecord["child"]): void;
  /** The step that is tried, for commands that want to know. */
  step: string | null;
}

export async function runCommand(experiment: Experiment, tree: string, options: RunOptions): Promise<Outcome> {
  const [program = "", ...args] = experiment.command;
  const cwd = join(tree, experiment.directory);
  const began = performance.now();
  const outcome = (verdict: Outcome["verdict"], code: number | null, why: Outcome["why"]): Outcome => ({
    verdict,
    code,
    why,
    milliseconds: Math.round(performance.now() - began),
  });
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return outcome("skip", null, "no-directory");
  if (program.includes("/") && !program.startsWith("/") && !existsSync(join(cwd, program)))
    return outcome("skip", null, "no-program");
  options.stop.throwIfAborted();
  const child = spawn(program, args, {
    cwd,
    env: { ...environmentForOthers(), PWD: cwd, ...(options.step === null ? {} : { BACKTRAIL_STEP: options.step }) },
    stdio: ["ignore", options.output, options.output],
    detached: true,
  });
  const { promise, resolve, reject } = Promise.withResolvers<{ code: number | null }>();
  child.once("error", reject);
  child.once("exit", (code) => resolve({ code }));
  let why: "timeout" | "interrupted" | null = null;
  const end = (reason: typeof why, signal: NodeJS.Signals) => {
    const { pid } = child;
    if (why !== null || pid === undefined) return;
    why = reason;
    killGroup(pid, signal);
    setTimeout(() => killGroup(pid, "SIGKILL"), GRACE_MS).unref();
  };
  const interrupt = () => end("interrupted", "SIGINT");
  options.stop.addEventListener("abort", interrupt, { once: true });
  const timer =
    experiment.timeoutMs === null ? undefined : setTimeout(() => end("timeout", "SIGTERM"), experiment.timeoutMs);
  try {
    if (child.pid !== undefined) options.started({ pid: child.pid, start: processStart(child.pid) ?? null });
    const { code } = await promise;
    options.stop.throwIfAborted();
    if (why === "timeout") return outcome("fail", null, "timeout");
    if (code === null) return outcome("fail", null, "signal");
    return outcome(code === 0 ? "pass" : code === SKIP ? "skip" : "fail", code, null);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "EACCES") throw notStarted(program, codeOf(error));
    throw error;
  } finally {
    clearTimeout(timer);
    options.stop.removeEventListener("abort", interrupt);
    // What it left running in the background would go on in files that are no longer those it began with.
    if (child.pid !== undefined) killGroup(child.pid, "SIGKILL");
  }
}

function notStarted(program: string, code: string | undefined): UserError {
  const shown = shorten(oneLine(program), 60);
  if (code === "EACCES") return new UserError("usage", `"${shown}" can't be started: permission denied.`);
  return new UserError(
    "usage",
    `"${shown}" was not found in PATH.`,
    /\s/.test(program)
      ? "Leave out the quotes around the whole command; for what only a shell understands, write: sh -c '…'"
      : "The command is started as it is; for what only a shell understands, write: sh -c '…'",
  );
}
