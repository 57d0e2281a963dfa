/** Shows a progress message for work that takes longer than a second. */
import type { Io } from "./io.ts";

const DELAY_MS = 1_000;
const TICK_MS = 120;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

export async function withProgress<T>(io: Io, what: string, work: () => Promise<T>): Promise<T> {
  let ticker: ReturnType<typeof setInterval> | undefined;
  const timer = setTimeout(() => {
    if (!io.err.isTerminal || io.dumb) {
      io.say(`${what}…`);
      return;
    }
    let frame = 0;
    ticker = setInterval(() => {
      io.err.write(`\r${FRAMES[frame++ % FRAMES.length]} ${what}…`);
    }, TICK_MS);
  }, DELAY_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (ticker) {
      clearInterval(ticker);
      io.err.write("\r\u001b[K");
    }
  }
}
