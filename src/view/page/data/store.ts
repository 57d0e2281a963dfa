/** A value that components can follow. */
import { useEffect, useState } from "preact/hooks";

export interface Store<T> {
  get(): T;
  set(value: T): void;
  /** Returns the function that ends it. */
  follow(listener: (value: T) => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let current = initial;
  const listeners = new Set<(value: T) => void>();
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener(value);
    },
    follow(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState<{ value: T }>({ value: store.get() });
  useEffect(() => {
    const take = (next: T) => setValue((old) => (Object.is(old.value, next) ? old : { value: next }));
    take(store.get());
    return store.follow(take);
  }, [store]);
  return value.value;
}
