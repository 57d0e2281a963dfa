/** The last value that was there: what is on the screen stays until the next one comes. */
import { useRef } from "preact/hooks";

export function useKept<T>(value: T | undefined, forget = false): T | undefined {
  const kept = useRef<T | undefined>(undefined);
  if (value !== undefined || forget) kept.current = value;
  return kept.current;
}
