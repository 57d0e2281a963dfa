/**
 * The agent as a process: in a group of its own, so that a signal reaches all that it started, and watched over, so
 * that it doesn't outlive us.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { codeOf } from "../base/errors.ts";

/** How long an agent has after SIGINT, and in all, before it is killed. */
const PATIENCE_MS = 2_000;
const KILL_MS = 5_000;
/** Something that the agent left running may hold its output open for ever. */
const DRAIN_MS = 1_000;
const LONGEST_REMAINDER = 4_096;

export interface Started {
  program: string;
  args: string[];
  cwd: string;
  env: Record<string, string | undefined>;
  input: string | null;
  output(chunk: Buffer): void;
  errors(chunk: Buffer): void;
}

export interface Ended {
  /** As a shell tells it: 128 and the signal's number where a signal ended it. */
  code: number;
  /** The end of what it wrote to standard error. */
  stderr: string;
}

export class AgentProcess {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #guard: ChildProcess | null;
  readonly #stopping: NodeJS.Timeout[] = [];
  #over = false;

  private constructor(child: ChildProcess, pid: number, started: Started) {
    this.#child = child;
    this.pid = pid;
    this.#guard = guard(pid);
    this.ended = this.#follow(started);
  }

  static async start(started: Started): Promise<AgentProcess> {
    const child = spawn(started.program, started.args, {
      cwd: started.cwd,
      env: started.env as NodeJS.ProcessEnv,
      stdio: [started.input === null ? "ignore" : "pipe", "pipe", "pipe"],
      detached: true,
    });
    if (child.pid === undefined) {
      const [error] = (await once(child, "error")) as [Error];
      throw error;
    }
    return new AgentProcess(child, child.pid, started);
  }

  /** Asks the agent to end, with more and more emphasis; asked again, at once with more. */
  stop(first: NodeJS.Signals): void {
    if (this.#over) return;
    if (this.#stopping.length > 0) {
      this.#signal("SIGTERM");
      return;
    }
    this.#signal(first);
    if (first !== "SIGTERM") this.#stopping.push(setTimeout(() => this.#signal("SIGTERM"), PATIENCE_MS));
    this.#stopping.push(setTimeout(() => this.#signal("SIGKILL"), KILL_MS));
  }

  /** To the whole group. */
  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.pid, signal);
    } catch (error) {
      if (codeOf(error) !== "ESRCH") this.#child.kill(signal);
    }
  }

  async #follow(started: Started): Promise<Ended> {
    const { stdin, stdout, stderr } = this.#child;
    let remainder = Buffer.alloc(0);
    stdout?.on("data", (chunk: Buffer) => started.output(chunk));
    stderr?.on("data", (chunk: Buffer) => {
      remainder = Buffer.concat([remainder, chunk]).subarray(-LONGEST_REMAINDER);
      started.errors(chunk);
    });
    // An agent that ends without reading its prompt says why itself.
    stdin?.on("error", () => {});
    stdin?.end(started.input);
    const closed = once(this.#child, "close");
    const [code, signal] = (await once(this.#child, "exit")) as [number | null, NodeJS.Signals | null];
    this.#over = true;
    for (const timer of this.#stopping) clearTimeout(timer);
    // Interrupted, it takes along whatever it has started.
    if (this.#stopping.length > 0) this.#signal("SIGKILL");
    this.#guard?.kill("SIGKILL");
    const drained = new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref());
    await Promise.race([closed, drained]);
    stdout?.destroy();
    stderr?.destroy();
    return { code: code ?? 128 + signalNumber(signal), stderr: remainder.toString("utf8") };
  }
}

const NUMBERS: Partial<Record<NodeJS.Signals, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};

export function signalNumber(signal: NodeJS.Signals | null): number {
  return (signal && NUMBERS[signal]) ?? 0;
}

/**
 * Nothing of ours runs once we are killed, and no system call that Bun offers ties a child to its parent's life. So a
 * shell waits at the end of a pipe that nobody writes to: when it closes, we are dead, and it ends the agent's group.
 * It runs nothing but these words, and its one argument is a number.
 */
function guard(pid: number): ChildProcess | null {
  if (process.platform === "win32") return null;
  const script = 'read -r _; kill -TERM "-$1"; sleep 5; kill -KILL "-$1"';
  const child = spawn("/bin/sh", ["-c", script, "backtrail-guard", String(pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    env: {},
  });
  child.on("error", () => {});
  child.stdin?.on("error", () => {});
  child.unref();
  return child;
}
