/** Watches the files that a plan would write or delete, so that the page can draw up the plan again when they change. */
import { basename, dirname, join } from "node:path";
import { watchDirectory } from "./watch-directory.ts";

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
    const watcher = watchDirectory(join(root, directory), (name) => {
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
