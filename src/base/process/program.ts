/** Finds programs by name. Ignores relative PATH entries, which could run programs from the current repository. */
import { delimiter, isAbsolute } from "node:path";
import { which } from "../runtime.ts";

/** PATH without its relative entries. */
export function absolutePath(path: string | undefined = process.env["PATH"]): string | undefined {
  if (path === undefined) return undefined;
  const entries = path.split(delimiter);
  return entries.every(isAbsolute) ? path : entries.filter(isAbsolute).join(delimiter);
}

/** The program's path; null if it is not in PATH. */
export function findProgram(name: string, path: string | undefined = process.env["PATH"]): string | null {
  return which(name, absolutePath(path) ?? "");
}
