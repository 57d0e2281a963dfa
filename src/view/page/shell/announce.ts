/** Sentences for screen readers, in one polite live region. */
import { createStore } from "../data/store.ts";

export const announcement = createStore("");

export function announce(text: string): void {
  // The same sentence twice would not be read again.
  announcement.set(announcement.get() === text ? `${text}\u00a0` : text);
}
