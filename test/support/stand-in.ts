/** A program in an agent's place, for what a real one can't be made to do: a shell script on PATH that plays a part. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { executable, type Result, runProgram } from "./binary.ts";
import { temporaryRepository } from "./repository.ts";

export class StandIn implements Disposable {
  readonly repository = temporaryRepository();
  readonly bin = join(this.repository.home, "bin");
  readonly logs = this.repository.at(".aiwr", "logs");
  /** What the scripts may write to, one line a call. */
  readonly called = join(this.repository.home, "called");

  constructor() {
    mkdirSync(this.bin);
  }

  agent(name: string, body: string): void {
    standIn(this.bin, name, body);
  }

  environment(extra: Record<string, string | undefined> = {}): Record<string, string> {
    const path = `${this.bin}:${process.env["PATH"]}`;
    return this.repository.environment({ PATH: path, CALLED: this.called, BACKTRAIL_CLOCK: undefined, ...extra });
  }

  run(args: string[], env: Record<string, string> = {}): Promise<Result> {
    return runProgram(executable(), ["run", ...args], { cwd: this.repository.path, env: this.environment(env) });
  }

  /** The same by its other name. */
  aiwr(args: string[], env: Record<string, string> = {}): Promise<Result> {
    const program = join(dirname(executable()), "aiwr");
    return runProgram(program, args, { cwd: this.repository.path, env: this.environment(env) });
  }

  /** Started, and left running. */
  start(args: string[], env: Record<string, string> = {}): ChildProcess {
    return spawn(executable(), ["run", ...args], {
      cwd: this.repository.path,
      env: this.environment(env),
      stdio: "pipe",
    });
  }

  /** Every log by its path below the day's directory. */
  files(): Record<string, string> {
    const found: Record<string, string> = {};
    for (const name of readdirSync(this.logs, { recursive: true, encoding: "utf8" }).sort()) {
      if (!name.endsWith(".jsonl") || name.startsWith(".")) continue;
      found[name.slice(name.indexOf("/") + 1)] = readFileSync(join(this.logs, name), "utf8");
    }
    return found;
  }

  log(path: string): Record<string, unknown>[] {
    const text = this.files()[`${path}.jsonl`];
    if (text === undefined) throw new Error(`There is no log ${path}, only ${Object.keys(this.files()).join(", ")}`);
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  [Symbol.dispose](): void {
    this.repository.remove();
  }
}

/** Lines as Claude Code prints them. */
const PART = `
init() { printf '{"type":"system","subtype":"init","session_id":"%s"}\\n' "$1"; }
say() { printf '{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]}}\\n' "$1"; }
done_() { printf '{"type":"result","subtype":"success","is_error":false,"result":"%s"}\\n' "$1"; }
`;

/** Writes the script; `body` has the functions of `PART` at hand. */
export function standIn(bin: string, name: string, body: string): void {
  const path = join(bin, name);
  mkdirSync(bin, { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${PART}\n${body}\n`);
  chmodSync(path, 0o755);
}

/** Waits until `holds` does. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const end = performance.now() + 20_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`It never came to this: ${what}`);
    await Bun.sleep(10);
  }
}

/** How a process that was left running ended. */
export function ended(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: number | null; stdout: string; stderr: string }>();
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (data: Buffer) => (stdout += data.toString()));
  child.stderr?.on("data", (data: Buffer) => (stderr += data.toString()));
  child.on("close", (code) => resolve({ code, stdout, stderr }));
  return promise;
}

export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
}
