/** Locates the user's files: below `BACKTRAIL_HOME` if set, otherwise in the XDG directories. */
import { homedir } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";

/** `HOME` takes precedence over the system's answer, as for git and agents. */
export function homeDirectory(): string {
  return process.env["HOME"] || homedir();
}

/** Configuration, and the user's own agent profiles. */
export function configDirectory(): string {
  return below("config", "XDG_CONFIG_HOME", ".config");
}

/** Stores of folders that are not git repositories. */
export function dataDirectory(): string {
  return below("data", "XDG_DATA_HOME", ".local/share");
}

/** Lists the agents that `enable --scope user` connected. Exists only while there is one. */
export function userScopeFile(): string {
  return join(dataDirectory(), "user-scope.json");
}

/** Disposable state: logs of failures outside any store. */
export function stateDirectory(): string {
  return below("state", "XDG_STATE_HOME", ".local/state");
}

function below(name: string, variable: string, fallback: string): string {
  const home = process.env["BACKTRAIL_HOME"];
  if (home) return join(home, name);
  const base = process.env[variable];
  return join(base && isAbsolute(base) ? base : join(homeDirectory(), fallback), "backtrail");
}

/** Whether `path` is `directory` or below it; both must be absolute and resolved. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
