/** Ctrl-C, a closed terminal and a polite kill, as a signal that long work looks at, so that it can clean up. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function stoppable<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    return await work(controller.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}
