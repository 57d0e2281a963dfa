/** Shows the progress of many runs: a status line on a terminal, otherwise one line per run. */
import { oneLine, printable } from "../../../base/text.ts";
import { fit } from "../../render/layout/text.ts";
import type { Io } from "../../terminal/io.ts";

const TICK_MS = 120;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const CLEAR = "\r\u001b[K";

export class BatchProgress {
  readonly #io: Io;
  readonly #prompts: readonly string[];
  readonly #moves: boolean;
  readonly #running = new Set<number>();
  readonly #ticker: ReturnType<typeof setInterval> | undefined;
  #ended = 0;
  #frame = 0;

  constructor(prompts: readonly string[], io: Io) {
    this.#prompts = prompts;
    this.#io = io;
    this.#moves = io.err.isTerminal && !io.dumb;
    if (this.#moves) this.#ticker = setInterval(() => this.#draw(), TICK_MS);
  }

  started(index: number): void {
    this.#running.add(index);
    if (this.#moves) this.#draw();
    else this.#say(`${this.#place(index)} began  "${fit(oneLine(this.#prompts[index - 1] ?? ""), 60)}"`);
  }

  ended(index: number, line: string): void {
    this.#running.delete(index);
    this.#ended++;
    this.#say(`${this.#moves ? CLEAR : ""}${this.#place(index)} ${printable(line)}`);
  }

  close(): void {
    clearInterval(this.#ticker);
    if (this.#moves) this.#io.err.offer?.(CLEAR);
  }

  #place(index: number): string {
    const { length } = this.#prompts;
    return `[${String(index).padStart(String(length).length)}/${length}]`;
  }

  #draw(): void {
    const { err } = this.#io;
    const now = [...this.#running].map((index) => oneLine(this.#prompts[index - 1] ?? "")).join(" · ");
    const text = `${this.#ended} of ${this.#prompts.length} done, ${this.#running.size} running: ${now}`;
    err.offer?.(`${CLEAR}${FRAMES[this.#frame++ % FRAMES.length]} ${fit(text, err.columns - 3)}`);
  }

  #say(line: string): void {
    this.#io.err.offer?.(`${line}\n`);
  }
}
