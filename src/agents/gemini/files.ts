/** Files that Gemini CLI's tools wrote. What a command writes is seen by the snapshots alone. */
import { isRecord } from "../profile.ts";
import type { ToolCall } from "./records.ts";

/** Null where the call wrote nothing: another tool, a failure, a refusal. */
export function writtenPath(call: ToolCall): string | null {
  if (!isWriter(call.name) || call.status === "error" || call.status === "cancelled") return null;
  // What the input names may be a path from the working directory.
  return path(call.displayedPath) ?? (isRecord(call.input) ? path(call.input["file_path"]) : null);
}

function isWriter(tool: string): boolean {
  return tool === "write_file" || tool === "replace";
}

function path(value: unknown): string | null {
  return typeof value === "string" && value !== "" && !value.includes("\0") ? value : null;
}
