/**
 * Exposes the session to its own commands: if an agent offers a file of variables for the shells that it starts, we
 * append ours. Best effort: the agent works without them.
 */
import { appendFileSync } from "node:fs";
import { readText } from "../../base/fs/files.ts";
import { isFreeOfLinks } from "../../base/fs/guarded-files.ts";
import { isInside } from "../../base/paths.ts";
import type { AgentContext } from "../../model/event.ts";

/** Adds the variables once; returns false if they could not be written. */
export function writeEnvironment(context: AgentContext, projectRoot: string): boolean {
  if (context.envFile === null) return false;
  if (isInside(projectRoot, context.envFile) && !isFreeOfLinks(projectRoot, context.envFile)) return false;
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

/** Single quotes preserve every character except the single quote itself. */
function inQuotes(value: string): string {
  return `'${value.replaceAll("\0", "").replaceAll("'", `'\\''`)}'`;
}
