/**
 * Owns the agent process. The agent runs in its own process group so that a signal reaches everything it started, and a
 * guard process kills the group if we die. Avoids node:child_process, which takes longer to load than the rest of a
 * run.
 */
import { codeOf } from "../base/errors.ts";
import { spawn } from "../base/runtime.ts";
import type { Child } from "../base/runtime-types.ts";

/** Delay from the first signal to SIGTERM, and from the first signal to SIGKILL. */
const GRACE_MS = 2_000;
const KILL_MS = 5_000;
/** A process that the agent left running may hold its output open forever. */
const DRAIN_MS = 1_000;
const MAX_REMAINDER = 4_096;

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
  /** The exit status as a shell reports it: 128 plus the signal number if a signal ended the agent. */
  code: number;
  /** The end of the agent's standard error. */
  stderr: string;
}

type AgentChild = Child<"ignore" | Uint8Array, "pipe", "pipe">;

export class AgentProcess {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly #child: AgentChild;
  readonly #guard: { kill(signal: "SIGKILL"): void } | null;
  readonly #stopping: ReturnType<typeof setTimeout>[] = [];
  #over = false;

  /** Throws if the program cannot be started. */
  constructor(started: Started) {
    this.#child = spawn(started.program, started.args, {
      cwd: started.cwd,
      env: started.env,
      stdin: started.input === null ? "ignore" : Buffer.from(started.input),
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
    });
    this.pid = this.#child.pid;
    this.#guard = guard(this.pid);
    this.ended = this.#follow(started);
  }

  /** Sends `first`, then SIGTERM, then SIGKILL until the agent ends. A second call sends SIGTERM at once. */
  stop(first: NodeJS.Signals): void {
    if (this.#over) return;
    if (this.#stopping.length > 0) {
      this.#signal("SIGTERM");
      return;
    }
    this.#signal(first);
    if (first !== "SIGTERM") this.#stopping.push(setTimeout(() => this.#signal("SIGTERM"), GRACE_MS));
    this.#stopping.push(setTimeout(() => this.#signal("SIGKILL"), KILL_MS));
  }

  /** Signals the whole process group. */
  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.pid, signal);
    } catch (error) {
      if (codeOf(error) !== "ESRCH") this.#child.kill(signal);
    }
  }

  async #follow(started: Started): Promise<Ended> {
    let remainder = Buffer.alloc(0);
    const streams = [
      flow(this.#child.stdout, started.output),
      flow(this.#child.stderr, (chunk) => {
        remainder = Buffer.concat([remainder, chunk]).subarray(-MAX_REMAINDER);
        started.errors(chunk);
      }),
    ];
    const code = await this.#child.exited;
    this.#over = true;
    for (const timer of this.#stopping) clearTimeout(timer);
    // After an interrupt, also kill everything that the agent started.
    if (this.#stopping.length > 0) this.#signal("SIGKILL");
    this.#guard?.kill("SIGKILL");
    await Promise.race([Promise.all(streams.map((stream) => stream.done)), delay(DRAIN_MS)]);
    for (const stream of streams) stream.stop();
    return { code, stderr: remainder.toString("utf8") };
  }
}

/** Passes each chunk to `take` until the stream ends or `stop` is called. */
function flow(stream: ReadableStream<Uint8Array>, take: (chunk: Buffer) => void) {
  const reader = stream.getReader();
  const read = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      take(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    }
  };
  return { done: read(), stop: () => void reader.cancel().catch(() => {}) };
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
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
 * None of our code runs after we are killed, and Bun offers no system call that ties a child's life to its parent's. So
 * a shell reads from a pipe that we never write to: when the pipe closes, we are dead, and the shell kills the agent's
 * process group. The shell runs only this fixed script, and its one argument is a number.
 */
function guard(pid: number): { kill(signal: "SIGKILL"): void } | null {
  if (process.platform === "win32") return null;
  const script = 'read -r _; kill -TERM "-$1"; sleep 5; kill -KILL "-$1"';
  try {
    const child = spawn("/bin/sh", ["-c", script, "backtrail-guard", String(pid)], {
      stdin: "pipe",
      stdout: "ignore",
      stderr: "ignore",
      detached: true,
      env: {},
    });
    child.unref();
    return child;
  } catch {
    // Without a shell there is no guard; the run itself is unaffected.
    return null;
  }
}
