/**
 * The only module that starts git: never through a shell, never with a prompt, and without variables by which an outer
 * git (a hook, an alias) would redirect it. Each git leads its own process group, so that killing the group also ends
 * its filters and helpers.
 */

import { ProblemError } from "../base/errors.ts";
import { isRunning, signalGroup } from "../base/process/processes.ts";
import { absolutePath, findProgram } from "../base/process/program.ts";
import { sleepSync, spawn, spawnSync } from "../base/runtime.ts";
import type { GitProblem } from "./problems.ts";

const RELOCATING = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_NAMESPACE",
  "GIT_PREFIX",
  "GIT_QUARANTINE_PATH",
  "GIT_SHALLOW_FILE",
  "GIT_GRAFT_FILE",
  "GIT_LITERAL_PATHSPECS",
  "GIT_GLOB_PATHSPECS",
  "GIT_NOGLOB_PATHSPECS",
  "GIT_ICASE_PATHSPECS",
  "GIT_EXTERNAL_DIFF",
  "GIT_ATTR_SOURCE",
  "GIT_TRACE",
];
const DEFAULT_TIMEOUT_MS = 120_000;
/** Time between asking git to end, so that it removes its lock files, and killing it. */
const GRACE_MS = 500;
const POLL_MS = 5;

export interface GitOptions {
  cwd: string;
  /** Variables on top of the cleaned environment. */
  env?: Record<string, string>;
  /** Standard input: bytes, text, or an open file. */
  input?: Uint8Array | string | { fd: number };
  /** An open file that receives standard output. */
  outputFd?: number;
  timeoutMs?: number;
  /** Kills git early, as a timeout does. */
  signal?: AbortSignal;
  /** Lets git ask the user's file monitor (`core.fsmonitor`), which may hang or miss a change. */
  asksMonitor?: boolean;
}

const WITHOUT_MONITOR = ["-c", "core.fsmonitor=false"];

export interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
  /** git exceeded `timeoutMs` or was aborted, and its process group was killed. */
  timedOut: boolean;
}

/** Runs git and collects its output. */
export async function tryGit(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const all = options.asksMonitor ? args : [...WITHOUT_MONITOR, ...args];
  const child = spawnGit(all, { ...options, stdin: stdinOf(options.input), stdout: options.outputFd ?? "pipe" });
  let timedOut = false;
  const end = () => {
    timedOut = true;
    signalGroup(child.pid, "SIGKILL");
  };
  const timer = setTimeout(end, options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  options.signal?.addEventListener("abort", end);
  if (options.signal?.aborted) end();
  try {
    // Do not wait for git's exit alone: a filter that it left behind may still hold the pipes open.
    const [stdout, stderr, code] = await Promise.all([
      child.stdout ? new Response(child.stdout).arrayBuffer() : new ArrayBuffer(0),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, stdout: Buffer.from(stdout), stderr, timedOut };
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", end);
    running.delete(child.pid);
  }
}

function stdinOf(input: GitOptions["input"]): "ignore" | Uint8Array | number {
  if (input === undefined) return "ignore";
  if (typeof input === "string") return Buffer.from(input);
  return "fd" in input ? input.fd : input;
}

/** Like `tryGit`, but throws an error that names the command and git's message. */
export async function git(args: readonly string[], options: GitOptions): Promise<Buffer> {
  const result = await tryGit(args, options);
  if (result.code !== 0) throw gitFailure(args, result.code, result.stderr);
  return result.stdout;
}

export async function gitText(args: readonly string[], options: GitOptions): Promise<string> {
  return (await git(args, options)).toString("utf8").trimEnd();
}

/** Starts a git that the caller writes to while it runs. It exits when its standard input closes. */
export function converse(args: readonly string[], options: Omit<GitOptions, "input" | "timeoutMs">) {
  return untilExit(spawnGit(args, { ...options, stdin: "pipe", stdout: "pipe" }));
}

/** Runs git synchronously and returns its exit status, or 127 if git cannot start. For rare queries. */
export function gitExitCode(args: readonly string[], cwd: string): number {
  try {
    return spawnSync("git", args, { cwd, env: environment(undefined) }).exitCode;
  } catch {
    return 127;
  }
}

export function gitFailure(args: readonly string[], code: number, stderr: string): ProblemError<GitProblem> {
  const verb = args.find((word) => /^[a-z][a-z-]+$/.test(word)) ?? "git";
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => line.trim());
  // git prints its advice after the error itself.
  const fatal = lines.findIndex((line) => line.startsWith("fatal: "));
  const said = (fatal === -1 ? lines.slice(-3) : lines.slice(fatal)).filter((line) => line !== "").join(" ");
  return new ProblemError<GitProblem>("failed", { kind: "git-failed", verb, code, reason: said });
}

/** Starts a git that contacts a remote; remote.ts limits its time and output. */
export function startRemote(args: readonly string[], options: Omit<GitOptions, "input" | "timeoutMs">) {
  return untilExit(spawnGit(args, { ...options, stdin: "ignore", stdout: "pipe" }));
}

/** Kills a git that the caller no longer needs. */
export function endGit(child: { pid: number }): void {
  signalGroup(child.pid, "SIGKILL");
  running.delete(child.pid);
}

function untilExit<Child extends { pid: number; exited: Promise<number> }>(child: Child): Child {
  child.exited.then(() => running.delete(child.pid)).catch(() => {});
  return child;
}

function spawnGit<In extends "ignore" | "pipe" | Uint8Array | number, Out extends "pipe" | number>(
  args: readonly string[],
  options: Pick<GitOptions, "cwd" | "env"> & { stdin: In; stdout: Out },
) {
  endGitOnSignals();
  try {
    const child = spawn("git", args, {
      cwd: options.cwd,
      env: environment(options.env),
      stdin: options.stdin,
      stdout: options.stdout,
      stderr: "pipe",
      detached: true,
    });
    running.add(child.pid);
    return child;
  } catch (error) {
    if (findProgram("git") === null) {
      throw new ProblemError<GitProblem>("failed", { kind: "git-missing" });
    }
    throw error;
  }
}

/**
 * Disables replacement objects: git would see them but our own reader would not, so a snapshot would be inconsistent.
 */
const FIXED = { LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", GIT_NO_REPLACE_OBJECTS: "1" };

/** Leaders of the process groups of running gits. */
const running = new Set<number>();

/** Ends every running git and its children, for a process that gives up or is about to exit. */
export function endRunningGit(signal: NodeJS.Signals = "SIGTERM"): void {
  const leaders = [...running].filter((leader) => signalGroup(leader, signal));
  const deadline = performance.now() + GRACE_MS;
  while (leaders.some((leader) => isRunning(leader)) && performance.now() < deadline) sleepSync(POLL_MS);
  for (const leader of leaders) signalGroup(leader, "SIGKILL");
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
let endsOnSignals = false;

/** Forwards signals: in its own process group, git receives neither Ctrl-C nor signals sent to this process. */
function endGitOnSignals(): void {
  if (endsOnSignals) return;
  endsOnSignals = true;
  for (const signal of SIGNALS) {
    const pass = (): void => {
      // Another listener decides how this process reacts; git still receives the signal, as from a terminal.
      if (process.listenerCount(signal) > 1) {
        for (const leader of running) signalGroup(leader, signal);
        return;
      }
      endRunningGit(signal);
      process.off(signal, pass);
      process.kill(process.pid, signal);
    };
    // Run first, while `once` listeners are still counted.
    process.prependListener(signal, pass);
  }
}

let cleaned: Record<string, string | undefined> | undefined;

/** The environment for other programs that run in another work tree, without variables that point to this one. */
export function environmentForOthers(): Record<string, string | undefined> {
  const environment = { ...process.env };
  for (const name of RELOCATING) delete environment[name];
  return environment;
}

function environment(extra: Record<string, string> | undefined): Record<string, string | undefined> {
  if (!cleaned) {
    cleaned = { ...process.env, PATH: absolutePath(), ...FIXED };
    for (const name of RELOCATING) delete cleaned[name];
  }
  return extra ? { ...cleaned, ...extra } : cleaned;
}
