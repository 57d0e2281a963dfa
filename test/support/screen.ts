/** A terminal in tmux in which Backtrail runs: keys are pressed, and the screen is read. */
import { spawnSync } from "node:child_process";
import { executable } from "./binary.ts";
import { temporaryDirectory } from "./directory.ts";
import type { TemporaryRepository } from "./repository.ts";

const PATIENCE_MS = 20_000;
export const hasTmux = Bun.which("tmux") !== null;

export class Screen implements Disposable {
  readonly #place = temporaryDirectory();
  readonly #env: Record<string, string>;

  constructor(
    repository: TemporaryRepository,
    args: string[],
    variables: Record<string, string | undefined> = {},
    columns = 80,
  ) {
    const extra = { TERM: "xterm", NO_COLOR: undefined, COLUMNS: undefined, BACKTRAIL_WORKER: "off", ...variables };
    this.#env = repository.environment(extra);
    const shell = `"$@"; echo "[ended with $?]"; sleep 1000`;
    const assigned = Object.entries(variables).map(([name, value]) => `${name}=${value ?? ""}`);
    const command = ["env", ...assigned, "sh", "-c", shell, "sh", executable(), ...args];
    this.#tmux("new-session", "-d", "-x", String(columns), "-y", "24", "-c", repository.path, "--", ...command);
  }

  press(...keys: string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  text(): string {
    return this.#tmux("capture-pane", "-p");
  }

  async shows(pattern: string | RegExp): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const text = this.text();
      if (typeof pattern === "string" ? text.includes(pattern) : pattern.test(text)) return text;
      if (Date.now() > deadline) throw new Error(`The screen never showed ${pattern}:\n${text}`);
      await Bun.sleep(50);
    }
  }

  [Symbol.dispose](): void {
    this.#tmux("kill-server");
    this.#place.remove();
  }

  #tmux(...args: string[]): string {
    const socket = ["-f", "/dev/null", "-S", this.#place.at("s")];
    return spawnSync("tmux", [...socket, ...args], { env: this.#env, encoding: "utf8" }).stdout;
  }
}
