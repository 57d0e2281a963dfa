/**
 * A terminal that a test can type into and read: tmux on a socket of its own. The program runs inside the
 * sandbox; tmux's commands reach it through the socket's file.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Sandbox } from "./sandbox.ts";

export interface TerminalOptions {
  /** A short directory name: a socket's path has a limit of about 100 characters. */
  directory: string;
  cwd: string;
  env: Record<string, string>;
  command: string[];
  columns?: number;
  rows?: number;
}

const PATIENCE_MS = 45_000;
const POLL_MS = 100;
const PRESS_AGAIN_MS = 2_000;
let opened = 0;

export class Terminal {
  readonly #socket: string;

  private constructor(socket: string) {
    this.#socket = socket;
  }

  static async open(sandbox: Sandbox, options: TerminalOptions): Promise<Terminal> {
    const socket = join(options.directory, `tmux-${opened++}`);
    const size = ["-x", String(options.columns ?? 120), "-y", String(options.rows ?? 50)];
    const tmux = ["tmux", "-f", "/dev/null", "-S", socket, "new-session", "-d", ...size, "--", ...options.command];
    // The pane outlives its program, so that a test can read what it said last.
    const keep = [";", "set-option", "-g", "remain-on-exit", "on"];
    const started = await sandbox.run([...tmux, ...keep], { cwd: options.cwd, env: options.env });
    if (started.code !== 0) throw new Error(`tmux did not start: ${started.stderr || started.stdout}`);
    return new Terminal(socket);
  }

  /** What is on the screen; with `history`, also what has scrolled off it. */
  screen(options: { history?: boolean } = {}): string {
    return this.#tmux("capture-pane", "-p", ...(options.history ? ["-S", "-"] : [])).trimEnd();
  }

  /** Types a line, waits until the program shows it, and sends it. */
  async submit(line: string): Promise<void> {
    this.#tmux("send-keys", "-l", "--", line);
    await this.waitFor(line.slice(0, 30));
    const typed = this.screen();
    await this.pressWhile("Enter", (screen) => screen === typed);
  }

  /** Presses a key, and again as long as it was without effect: a program that is still starting swallows keys. */
  async pressWhile(key: string, unheard: (screen: string) => boolean): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    do {
      this.press(key);
      const again = Date.now() + PRESS_AGAIN_MS;
      while (Date.now() < again) {
        if (!unheard(this.screen())) return;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    } while (Date.now() < deadline);
    throw new Error(`${key} was never heard:\n${this.screen()}`);
  }

  /** tmux's names of keys: Escape, Enter, Up, C-c. */
  press(...keys: string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  async waitFor(pattern: string | RegExp, patienceMs = PATIENCE_MS): Promise<void> {
    const shows = (screen: string) => (typeof pattern === "string" ? screen.includes(pattern) : pattern.test(screen));
    const deadline = Date.now() + patienceMs;
    while (!shows(this.screen())) {
      if (Date.now() > deadline) throw new Error(`the screen never showed ${pattern}:\n${this.screen()}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  ended(): boolean {
    return this.#tmux("list-panes", "-F", "#{pane_dead}").trim() === "1";
  }

  /** Until the program in it has ended. */
  async waitForExit(patienceMs = PATIENCE_MS): Promise<void> {
    const deadline = Date.now() + patienceMs;
    while (!this.ended()) {
      if (Date.now() > deadline) throw new Error(`the program did not end:\n${this.screen()}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  close(): void {
    this.#tmux("kill-server");
  }

  #tmux(...args: string[]): string {
    const done = spawnSync("tmux", ["-S", this.#socket, ...args], { encoding: "utf8" });
    if (done.status !== 0) throw new Error(`tmux ${args[0]}: ${done.stderr}`);
    return done.stdout;
  }
}

export function tmuxMissing(): string | null {
  return spawnSync("tmux", ["-V"]).status === 0 ? null : "tmux is not installed";
}
