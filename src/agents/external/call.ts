/**
 * Calls an external agent's program without a shell, with limits on time and output. This process does not call a
 * program again after it timed out once.
 */
import { type SpawnSyncOptions, type SpawnSyncReturns, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { codeOf, UserError } from "../../base/errors.ts";
import { signalGroup } from "../../base/process/processes.ts";
import { oneLine, shorten } from "../../base/text.ts";
import type { ExternalProgram } from "./programs.ts";
import { PROTOCOL_VERSION } from "./protocol.ts";

const MAX_MS = 30_000;
/** The limit for all calls of one hook together, because the agent and its user wait for the hook. */
const MAX_IN_HOOK_MS = 5_000;
const MAX_OUTPUT_BYTES = 64 << 20;
const WORDS_LENGTH = 300;

export interface CallOptions {
  /** The repository's root: the program's working directory. */
  root: string;
  input?: string | Uint8Array;
  /** Additional environment variables. */
  env?: Record<string, string>;
}

const given = new Set<string>();
let spentMs = 0;

export function callProgram(program: ExternalProgram, args: readonly string[], options: CallOptions): Buffer {
  const { name, path } = program;
  if (given.has(path)) throw new UserError("failed", `${name} was given up: it did not answer in time.`);
  const timeout = Math.floor(timeLeft());
  if (timeout < 1) throw new UserError("failed", `${name}: there is no time left to call it.`);
  const began = performance.now();
  const how: SpawnSyncOptions & { detached: true } = {
    cwd: existsSync(options.root) ? options.root : "/",
    env: environment(options),
    input: options.input ?? "",
    timeout,
    killSignal: "SIGKILL",
    maxBuffer: MAX_OUTPUT_BYTES,
    // A separate process group, so that the program's children end with it.
    detached: true,
    windowsHide: true,
  };
  const result = spawnSync(path, [...args], how) as SpawnSyncReturns<Buffer>;
  spentMs += performance.now() - began;
  if (!result.error && result.status === 0) return result.stdout;
  const code = codeOf(result.error);
  if (code === "ETIMEDOUT" || code === "ENOBUFS") {
    if (result.pid) signalGroup(result.pid, "SIGKILL");
    given.add(path);
  }
  throw new UserError("failed", `${name} ${args[0] ?? ""}: ${reason(code, result, timeout)}`);
}

/** Calls the program and parses its answer as JSON. */
export function askProgram(program: ExternalProgram, args: readonly string[], options: CallOptions): unknown {
  const text = callProgram(program, args, options).toString("utf8").trim();
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new UserError("failed", `${program.name} ${args[0] ?? ""}: the answer is not valid JSON.`);
  }
}

function timeLeft(): number {
  return process.argv[2] === "hooks" ? MAX_IN_HOOK_MS - spentMs : MAX_MS;
}

function reason(
  code: string | undefined,
  result: { status: number | null; signal: string | null; stderr: Buffer | null },
  timeout: number,
): string {
  if (code === "ETIMEDOUT") return `no answer in ${timeout} ms.`;
  if (code === "ENOBUFS") return `an answer of more than ${MAX_OUTPUT_BYTES >> 20} MiB.`;
  if (code !== undefined) return `it cannot be run (${code}).`;
  const words = shorten(
    oneLine((result.stderr ?? Buffer.alloc(0)).toString("utf8", 0, 4 * WORDS_LENGTH)),
    WORDS_LENGTH,
  );
  const ended = result.signal ? `ended by ${result.signal}` : `ended with ${result.status}`;
  return words === "" ? `${ended}.` : `${ended}: ${words}`;
}

/** The user's environment, without variables that point git to another repository or Backtrail to other settings. */
function environment({ root, env }: CallOptions): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value === undefined || name.startsWith("GIT_")) continue;
    if (name.startsWith("BACKTRAIL_") && name !== "BACKTRAIL_HOME") continue;
    clean[name] = value;
  }
  return { ...clean, ENTIRE_REPO_ROOT: root, ENTIRE_PROTOCOL_VERSION: String(PROTOCOL_VERSION), ...env };
}
