/** Runs a full-screen picker: reads keys, draws again, and leaves the terminal as it was. */
import { emitKeypressEvents } from "node:readline";
import { interrupted } from "../terminal/ask.ts";
import type { Io } from "../terminal/io.ts";
import type { Key } from "./keys.ts";

const ENTER_SCREEN = "\u001b[?1049h\u001b[?25l";
const LEAVE_SCREEN = "\u001b[?25h\u001b[?1049l";

export interface FullScreen<T> {
  draw(columns: number, rows: number): string[];
  /** Undefined until the user is done. */
  press(key: Key): { picked: T } | { canceled: true } | undefined;
}

/** `make` gets a function that draws the screen again, for what arrives between keys. */
export function runFullScreen<T>(io: Io, make: (redraw: () => void) => FullScreen<T>): Promise<T> {
  const { stdin, stderr } = process;
  let ended = false;
  const render = () => {
    if (ended) return;
    const lines = screen.draw(stderr.columns || io.err.columns, stderr.rows || io.err.rows);
    stderr.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`);
  };
  const screen = make(render);
  return new Promise((resolve, reject) => {
    const end = () => {
      ended = true;
      stdin.off("keypress", onKey);
      stderr.off("resize", render);
      process.off("SIGTERM", onSignal);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write(LEAVE_SCREEN);
    };
    const onSignal = () => {
      end();
      reject(interrupted());
    };
    const onKey = (_text: string | undefined, key: Key) => {
      const outcome = screen.press(key);
      if (outcome === undefined) {
        render();
        return;
      }
      end();
      if ("picked" in outcome) resolve(outcome.picked);
      else reject(interrupted());
    };
    emitKeypressEvents(stdin);
    stdin.setRawMode(true);
    stdin.resume();
    stdin.on("keypress", onKey);
    stderr.on("resize", render);
    process.once("SIGTERM", onSignal);
    stderr.write(ENTER_SCREEN);
    render();
  });
}
