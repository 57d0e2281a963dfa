/** Where the user's own files are: `BACKTRAIL_HOME` moves them all, the XDG directories hold them otherwise. */
import { homedir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";

/** Configuration, and agents' profiles of the user's own. */
export function configDirectory(): string {
  return below("config", "XDG_CONFIG_HOME", ".config");
}

/** Stores of folders that are no git repositories. */
export function dataDirectory(): string {
  return below("data", "XDG_DATA_HOME", ".local/share");
}

/** What can be made again: logs of failures outside any store. */
export function stateDirectory(): string {
  return below("state", "XDG_STATE_HOME", ".local/state");
}

function below(name: string, variable: string, fallback: string): string {
  const home = process.env["BACKTRAIL_HOME"];
  if (home) return join(home, name);
  const base = process.env[variable];
  return join(base && isAbsolute(base) ? base : join(process.env["HOME"] || homedir(), fallback), "backtrail");
}

/** Whether `path` is `directory` or lies below it; both absolute, both resolved. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
