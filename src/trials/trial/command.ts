/** Runs a command in a throwaway copy, in its own process group, and interprets its exit status like git bisect. */

import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { processStart, signalGroup } from "../../base/process/processes.ts";
import { environmentForOthers } from "../../git/run.ts";
import type { Experiment, Outcome } from "../../steps/results/types.ts";
import { TrialError } from "../problems.ts";
import type { TrialRecord } from "./record.ts";

const SKIP = 125;
/** Time between asking a command to exit and killing it. */
const GRACE_MS = 2_000;

export interface RunOptions {
  /** Discards the output, or writes it to this file descriptor. */
  output: "ignore" | number;
  stop: AbortSignal;
  started(child: TrialRecord["child"]): void;
  /** The step under test, passed to the command. */
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
    signalGroup(pid, signal);
    setTimeout(() => signalGroup(pid, "SIGKILL"), GRACE_MS).unref();
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
    // Background processes must not continue once the files change to another state.
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
  }
}

function notStarted(program: string, code: string | undefined): TrialError {
  if (code === "EACCES") return new TrialError("usage", { kind: "command-denied", program });
  return new TrialError("usage", { kind: "command-missing", program });
}
