/** Reports the names that change in one directory. */
import { type FSWatcher, watch } from "node:fs";

/** Undefined if the directory does not exist or can't be watched. */
export function watchDirectory(directory: string, onName: (name: string) => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, (_event, name) => {
      if (name !== null) onName(String(name));
    });
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
