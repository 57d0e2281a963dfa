/** Watches the files that a plan would write or delete, so that the page can draw up the plan again when they change. */
import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, join } from "node:path";

const COALESCE_MS = 80;
/** More would cost the system more than a late notice costs the user: `apply` compares the files anyway. */
const MAX_DIRECTORIES = 100;

export function watchFiles(root: string, paths: readonly string[], onChange: () => void): { close(): void } {
  const names = Map.groupBy(paths, (path) => dirname(path));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const report = () => {
    timer = undefined;
    onChange();
  };
  const watchers = [...names].slice(0, MAX_DIRECTORIES).flatMap(([directory, inside]) => {
    const wanted = new Set(inside.map((path) => basename(path)));
    const watcher = watchQuietly(join(root, directory), (name) => {
      if (wanted.has(name)) timer ??= setTimeout(report, COALESCE_MS);
    });
    return watcher ? [watcher] : [];
  });
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** Undefined if the directory does not exist or can't be watched. */
function watchQuietly(directory: string, onName: (name: string) => void): FSWatcher | undefined {
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
