/** Turns Ctrl-C, a closed terminal and SIGTERM into an abort signal, so that long work can clean up. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function withAbortSignal<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    return await work(controller.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}
