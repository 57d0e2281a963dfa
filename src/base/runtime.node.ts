/** Implements runtime.ts with Node's modules. Bun has these modules too, so the library needs only this file. */
import childProcess, { type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, statSync } from "node:fs";
import { constants as system } from "node:os";
import { delimiter, join } from "node:path";
import { type Readable, Readable as Stream, type Writable } from "node:stream";
import zlib from "node:zlib";
import { compileGlob } from "./fs/glob-matcher.ts";
import type { Child, Hasher, HashName, ReadBytes, SpawnOptions, Stdio } from "./runtime-types.ts";

/** The process belongs to the program that uses the library. */
export const ownProgram: string | null = null;

export function createHasher(hash: HashName): Hasher {
  return createHash(hash);
}

export function deflate(data: Uint8Array, level: 0 | 1): Buffer {
  return zlib.deflateSync(data, { level });
}

export function inflate(data: Uint8Array): Buffer {
  return zlib.inflateSync(data);
}

export function crc32(data: Uint8Array): number {
  return zlib.crc32(data);
}

export function spawn<In extends Stdio | Uint8Array, Out extends Stdio, Err extends Stdio>(
  program: string,
  args: readonly string[],
  options: SpawnOptions<In, Out, Err>,
): Child<In, Out, Err> {
  const { stdin, stdout, stderr, env, ...others } = options;
  const stdio: Stdio[] = [typeof stdin === "object" ? "pipe" : stdin, stdout, stderr];
  const environment = env ? { env: env as NodeJS.ProcessEnv } : {};
  const child: ChildProcess = childProcess.spawn(program, [...args], { ...others, ...environment, stdio });
  const { pid } = child;
  if (pid === undefined) {
    // Node reports this later in an event; throw now, as Bun does.
    child.on("error", () => {});
    throw Object.assign(new Error(`${program} could not be started.`), { code: failureOf(program, env) });
  }
  const exited = new Promise<number>((resolve) => {
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? (system.signals[signal] ?? 0) : 0)));
  });
  // Ignore a program that exits without reading its input.
  child.stdin?.on("error", () => {});
  if (typeof stdin === "object") child.stdin?.end(stdin);
  return {
    pid,
    exited,
    stdin: stdin === "pipe" && child.stdin ? sink(child.stdin) : undefined,
    stdout: child.stdout ? webStream(child.stdout) : undefined,
    stderr: child.stderr ? webStream(child.stderr) : undefined,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    unref: () => child.unref(),
  } as unknown as Child<In, Out, Err>;
}

/** Determines the error code, which Node reports only in the event. */
function failureOf(program: string, env: Record<string, string | undefined> | undefined): string {
  const path = (env ?? process.env)["PATH"] ?? "";
  const found = program.includes("/") ? isExecutable(program) : which(program, path) !== null;
  return found ? "EACCES" : "ENOENT";
}

function sink(stream: Writable) {
  return {
    write: (data: string | Uint8Array) => stream.write(data),
    flush: () => {},
    end: () => stream.end(),
  };
}

function webStream(stream: Readable): unknown {
  return Stream.toWeb(stream);
}

export function spawnSync(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string | undefined> } = {},
): { exitCode: number; stdout: Buffer } {
  const { status, signal, stdout, error } = childProcess.spawnSync(program, [...args], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env ? { env: options.env as NodeJS.ProcessEnv } : {}),
    stdio: ["ignore", "pipe", "ignore"],
  });
  if (error) throw error;
  return { exitCode: status ?? 128 + (signal ? (system.signals[signal] ?? 0) : 0), stdout };
}

export function which(name: string, path: string): string | null {
  if (name.includes("/")) return isExecutable(name) ? name : null;
  for (const directory of path.split(delimiter)) {
    const candidate = join(directory, name);
    if (directory !== "" && isExecutable(candidate)) return candidate;
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export function globMatcher(pattern: string): (path: string) => boolean {
  return compileGlob(pattern);
}

export function standardInput(): { getReader(): ReadBytes } {
  return Stream.toWeb(process.stdin) as unknown as { getReader(): ReadBytes };
}

export function sleepSync(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Node does this itself. */
export function collectGarbage(): void {}
