/** Keeps the last value on the screen until the next one is loaded. */
import { useRef } from "preact/hooks";

export function useKept<T>(value: T | undefined, forget = false): T | undefined {
  const kept = useRef<T | undefined>(undefined);
  if (value !== undefined || forget) kept.current = value;
  return kept.current;
}
