/**
 * The only place that starts git. Never through a shell, never with a prompt, and never with the variables by
 * which a surrounding git (a hook, an alias) would point us at another repository or index.
 */
import { UserError } from "../base/errors.ts";

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
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export interface GitOptions {
  cwd: string;
  /** Variables on top of the cleaned environment. */
  env?: Record<string, string>;
  input?: Uint8Array | string;
  timeoutMs?: number;
}

export interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/** Starts git and collects what it prints. */
export async function tryGit(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const child = spawnGit(args, {
    ...options,
    stdin:
      options.input === undefined
        ? "ignore"
        : typeof options.input === "string"
          ? Buffer.from(options.input)
          : options.input,
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).arrayBuffer(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout: Buffer.from(stdout), stderr };
}

/** Like `tryGit`, but a failure is an error that names the command and what git said. */
export async function git(args: readonly string[], options: GitOptions): Promise<Buffer> {
  const result = await tryGit(args, options);
  if (result.code !== 0) throw gitFailure(args, result.code, result.stderr);
  return result.stdout;
}

export async function gitText(args: readonly string[], options: GitOptions): Promise<string> {
  return (await git(args, options)).toString("utf8").trimEnd();
}

/** A git that is talked to while it runs, for as long as its caller does: it ends with its standard input. */
export function converse(args: readonly string[], options: Omit<GitOptions, "input" | "timeoutMs">) {
  return spawnGit(args, { ...options, stdin: "pipe", timeoutMs: LONGEST_TIMEOUT_MS });
}

/** Waits for git and gives only its exit status; 127 where it cannot be started. For rare questions. */
export function gitExitCode(args: readonly string[], cwd: string): number {
  try {
    return Bun.spawnSync(["git", ...args], { cwd, env: environment(undefined), stdio: ["ignore", "ignore", "ignore"] })
      .exitCode;
  } catch {
    return 127;
  }
}

export function gitFailure(args: readonly string[], code: number, stderr: string): UserError {
  const verb = args.find((word) => /^[a-z][a-z-]+$/.test(word)) ?? "git";
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => line.trim());
  // What git advises comes behind what went wrong.
  const fatal = lines.findIndex((line) => line.startsWith("fatal: "));
  const said = (fatal === -1 ? lines.slice(-3) : lines.slice(fatal)).filter((line) => line !== "").join(" ");
  return new UserError("failed", `git ${verb} failed: ${said || `exit status ${code}`}`);
}

/** A git in a session of its own, for one that talks to other machines: see remote.ts, which ends it and all it started. */
export function startApart(args: readonly string[], options: Omit<GitOptions, "input" | "timeoutMs">) {
  return spawnGit(args, { ...options, stdin: "ignore", timeoutMs: LONGEST_TIMEOUT_MS, detached: true });
}

function spawnGit<In extends "ignore" | "pipe" | Uint8Array>(
  args: readonly string[],
  options: Omit<GitOptions, "input"> & { stdin: In; detached?: true },
) {
  try {
    const child = Bun.spawn(["git", ...args], {
      cwd: options.cwd,
      env: environment(options.env),
      stdin: options.stdin,
      stdout: "pipe",
      stderr: "pipe",
      timeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      killSignal: "SIGKILL",
      ...(options.detached ? { detached: true } : {}),
    });
    running.add(child);
    child.exited.then(() => running.delete(child)).catch(() => {});
    return child;
  } catch (error) {
    if (Bun.which("git") === null) {
      throw new UserError("failed", "git was not found in PATH.", "Install git 2.38 or newer and try again.");
    }
    throw error;
  }
}

/** Objects count as they are: a replacement seen by git but not by our own reading would tear a snapshot. */
const FIXED = { LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", GIT_NO_REPLACE_OBJECTS: "1" };

const running = new Set<{ kill(signal: "SIGKILL"): void }>();

/** For whoever ends this process while git may still be at work. */
export function killRunningGit(): void {
  for (const child of running) child.kill("SIGKILL");
}

let cleaned: Record<string, string | undefined> | undefined;

/** The environment for a program that is not git's, started in another work tree: nothing points it at this one. */
export function environmentForOthers(): Record<string, string | undefined> {
  const environment = { ...process.env };
  for (const name of RELOCATING) delete environment[name];
  return environment;
}

function environment(extra: Record<string, string> | undefined): Record<string, string | undefined> {
  if (!cleaned) {
    cleaned = { ...process.env, ...FIXED };
    for (const name of RELOCATING) delete cleaned[name];
  }
  return extra ? { ...cleaned, ...extra } : cleaned;
}
