/**
 * What a session's own commands may know about it: where an agent offers a file of variables for the shells
 * that it starts, ours are added to it. Best effort: an agent works without them.
 */
import { appendFileSync } from "node:fs";
import { readText } from "../base/files.ts";
import type { AgentContext } from "./event.ts";

/** Adds the variables once; false where they could not be written. */
export function writeEnvironment(context: AgentContext, projectRoot: string): boolean {
  if (context.envFile === null) return false;
  try {
    const before = readText(context.envFile) ?? "";
    const missing = exports(context, projectRoot).filter((line) => !before.includes(line));
    if (missing.length === 0) return true;
    const separator = before === "" || before.endsWith("\n") ? "" : "\n";
    appendFileSync(context.envFile, separator + missing.join(""), { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

function exports(context: AgentContext, projectRoot: string): string[] {
  const values: [name: string, value: string | null][] = [
    ["BACKTRAIL_AGENT", context.agent],
    ["BACKTRAIL_PROJECT_ROOT", projectRoot],
    ["BACKTRAIL_SESSION_ID", context.sessionId],
    ["BACKTRAIL_TRANSCRIPT_PATH", context.transcriptPath],
  ];
  return values.flatMap(([name, value]) => (value === null ? [] : [`export ${name}=${inQuotes(value)}\n`]));
}

/** Single quotes keep everything as it is, but can't hold one of themselves. */
function inQuotes(value: string): string {
  return `'${value.replaceAll("\0", "").replaceAll("'", `'\\''`)}'`;
}
