/** Finds external agents' programs on PATH, and checks which ones the user admitted. */
import { accessSync, constants, statSync } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { isAgentId } from "../contract/profile.ts";
import { agentNameOf, PREFIXES } from "./protocol.ts";

export interface ExternalProgram {
  name: string;
  /** Absolute. */
  path: string;
}

/** Searches PATH for both program names. Skips relative directories, which would resolve inside the repository. */
export function findProgram(name: string): ExternalProgram | undefined {
  if (!isAgentId(name)) return undefined;
  const suffix = process.platform === "win32" ? ".exe" : "";
  const directories = (process.env["PATH"] ?? "").split(delimiter).filter((directory) => isAbsolute(directory));
  for (const prefix of PREFIXES) {
    for (const directory of directories) {
      const path = join(directory, `${prefix}${name}${suffix}`);
      if (isProgram(path)) return { name, path };
    }
  }
  return undefined;
}

/** Looks up a program in the setting `external_agents`, which lists names to find on PATH, or absolute paths. */
export function admitted(name: string, listed: readonly string[]): ExternalProgram | undefined {
  const path = listed.find((entry) => isAbsolute(entry) && agentNameOf(basename(entry)) === name);
  if (path !== undefined) return isAgentId(name) && isProgram(path) ? { name, path } : undefined;
  return listed.includes(name) ? findProgram(name) : undefined;
}

export function admittedNames(listed: readonly string[]): string[] {
  const names = listed.map((entry) => (isAbsolute(entry) ? agentNameOf(basename(entry)) : entry));
  return names.filter(isAgentId);
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
