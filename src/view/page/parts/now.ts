/** The current time, for ages. It moves once in thirty seconds, and not at all in a hidden tab. */
import { createStore, useStore } from "../data/store.ts";

const now = createStore(Date.now());

setInterval(() => {
  if (document.visibilityState === "visible") now.set(Date.now());
}, 30_000);
addEventListener("visibilitychange", () => now.set(Date.now()));

export function useNow(): number {
  return useStore(now);
}
