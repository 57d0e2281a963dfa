/**
 * Watches the files that tell of changes: the lists of steps, restores, forks, sessions, checks and runs. The system
 * reports changes, so that nothing runs while nothing happens. Changes that come together are reported together.
 */
import type { FSWatcher } from "node:fs";
import { join } from "node:path";
import type { Workspace } from "../../../git/workspace.ts";
import { dayName, logsDirectory } from "../../../run/log/layout.ts";
import type { Topic } from "../../protocol.ts";
import { watchDirectory } from "./watch-directory.ts";

const COALESCE_MS = 80;

interface Place {
  directory: string;
  /** The topics of a changed file, by its name. */
  topics(name: string): readonly Topic[];
}

export function watchStore(workspace: Workspace, onChange: (topics: Topic[]) => void): { close(): void } {
  const watchers = new Map<string, FSWatcher>();
  const found = new Set<Topic>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const report = () => {
    timer = undefined;
    // A directory may have been created meanwhile: that of the first fork, or of a new day's runs.
    start();
    const topics = [...found];
    found.clear();
    onChange(topics);
  };
  const start = () => {
    for (const { directory, topics } of placesOf(workspace)) {
      if (watchers.has(directory)) continue;
      const watcher = watchDirectory(directory, (name) => {
        const changed = topics(name);
        for (const topic of changed) found.add(topic);
        if (changed.length > 0) timer ??= setTimeout(report, COALESCE_MS);
      });
      if (watcher) watchers.set(directory, watcher);
    }
  };
  start();
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

function placesOf(workspace: Workspace): Place[] {
  const { root, storeDir, stateDir } = workspace;
  const logs = logsDirectory(root, process.env);
  return [
    { directory: storeDir, topics: topicsInStore },
    { directory: stateDir, topics: topicsInState },
    { directory: join(storeDir, "sessions"), topics: () => ["sessions"] },
    { directory: join(storeDir, "forks"), topics: () => ["forks", "timeline"] },
    { directory: join(stateDir, "proposals"), topics: () => ["proposals"] },
    { directory: root, topics: (name) => (name === ".aiwr" ? ["runs"] : []) },
    { directory: logs, topics: () => ["runs", "sessions"] },
    { directory: join(logs, dayName(new Date())), topics: () => ["runs"] },
  ];
}

const RESTORES = ["restores.jsonl", "operations.jsonl"];

function topicsInState(name: string): readonly Topic[] {
  if (isFile(name, RESTORES)) return ["operations", "timeline"];
  return name === "proposals" ? ["proposals"] : [];
}

function topicsInStore(name: string): readonly Topic[] {
  if (isFile(name, ["steps.jsonl"])) return ["timeline", "sessions"];
  if (isFile(name, ["trials.jsonl"])) return ["checks", "timeline"];
  return name === "forks" || name === "sessions" ? [name] : [];
}

/** A file is replaced by renaming another file with the same name prefix to it. */
function isFile(name: string, wanted: readonly string[]): boolean {
  return wanted.some((one) => name.startsWith(one));
}
