/** Runs the built executable as a user or an agent would: its own process, its own environment. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

export interface Result {
  stdout: string;
  stderr: string;
  /** The exit status; null if a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunOptions {
  cwd: string;
  /** The whole environment: nothing is inherited. */
  env: Record<string, string>;
  input?: string | Uint8Array;
  /** After so many milliseconds the process is killed (30 seconds unless given). */
  timeout?: number;
}

/** The executable under test: `BACKTRAIL_BIN`, or what `npm run build` left. */
export function executable(): string {
  const path = process.env["BACKTRAIL_BIN"] ?? join(import.meta.dirname, "..", "..", "dist", "backtrail");
  if (!existsSync(path)) throw new Error("There is no executable to test. Run `npm run build` first.");
  return path;
}

export function runBinary(args: string[], options: RunOptions): Promise<Result> {
  return runProgram(executable(), args, options);
}

export function runProgram(program: string, args: string[], options: RunOptions): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const child = spawn(program, args, { cwd: options.cwd, env: options.env, stdio: "pipe" });
  const timer = setTimeout(() => child.kill("SIGKILL"), options.timeout ?? 30_000);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (data: Buffer) => stdout.push(data));
  child.stderr.on("data", (data: Buffer) => stderr.push(data));
  child.on("error", reject);
  child.on("close", (code, signal) => {
    clearTimeout(timer);
    resolve({ stdout: text(stdout), stderr: text(stderr), code, signal });
  });
  // A program that ends without reading its input is not a fault of the test.
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  return promise;
}

function text(parts: Buffer[]): string {
  return Buffer.concat(parts).toString("utf8");
}
