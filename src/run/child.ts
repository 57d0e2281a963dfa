/**
 * The agent as a process: in a group of its own, so that a signal reaches all that it started, and watched over, so
 * that it doesn't outlive us. Bun's own spawn: loading node:child_process takes longer than all the rest of a run.
 */
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

type Child = Bun.Subprocess<"ignore" | Uint8Array, "pipe", "pipe">;

export class AgentProcess {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly #child: Child;
  readonly #guard: { kill(signal: "SIGKILL"): void } | null;
  readonly #stopping: ReturnType<typeof setTimeout>[] = [];
  #over = false;

  /** Throws where the program can't be started. */
  constructor(started: Started) {
    this.#child = Bun.spawn([started.program, ...started.args], {
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
    let remainder = Buffer.alloc(0);
    const streams = [
      flow(this.#child.stdout, started.output),
      flow(this.#child.stderr, (chunk) => {
        remainder = Buffer.concat([remainder, chunk]).subarray(-LONGEST_REMAINDER);
        started.errors(chunk);
      }),
    ];
    const code = await this.#child.exited;
    this.#over = true;
    for (const timer of this.#stopping) clearTimeout(timer);
    // Interrupted, it takes along whatever it has started.
    if (this.#stopping.length > 0) this.#signal("SIGKILL");
    this.#guard?.kill("SIGKILL");
    await Promise.race([Promise.all(streams.map((stream) => stream.done)), Bun.sleep(DRAIN_MS)]);
    for (const stream of streams) stream.stop();
    return { code, stderr: remainder.toString("utf8") };
  }
}

/** Hands on what comes, until the end or until it is stopped. */
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
function guard(pid: number): { kill(signal: "SIGKILL"): void } | null {
  if (process.platform === "win32") return null;
  const script = 'read -r _; kill -TERM "-$1"; sleep 5; kill -KILL "-$1"';
  try {
    const child = Bun.spawn(["/bin/sh", "-c", script, "backtrail-guard", String(pid)], {
      stdin: "pipe",
      stdout: "ignore",
      stderr: "ignore",
      detached: true,
      env: {},
    });
    child.unref();
    return child;
  } catch {
    // Without a shell nobody watches; the run itself is not worse for it.
    return null;
  }
}
