/** Files that Claude Code's tools wrote, from their uses and results. */
import { isRecord } from "../profile.ts";
import type { WrittenFiles } from "../written-files.ts";
import type { ChainLine } from "./lines.ts";

export function addFiles(files: WrittenFiles, line: ChainLine): void {
  for (const block of line.blocks) {
    if (block.type === "tool_use") {
      const path = writtenPath(block.name, block.input);
      if (path !== null) files.addUse(block.id, [path]);
    }
    if (block.type !== "tool_result") continue;
    const told = resultPath(line.toolUseResult);
    files.addResult(block.id, block.error, told === null ? [] : [told]);
  }
}

/** The file that a use of a writing tool names. */
export function writtenPath(tool: string, input: unknown): string | null {
  if (!isRecord(input)) return null;
  switch (tool) {
    case "Write":
    case "Edit":
    case "MultiEdit":
      return path(input["file_path"]);
    case "NotebookEdit":
      return path(input["notebook_path"]);
    default:
      return null;
  }
}

/** Of a result whose use lies before the stretch: only writing tools report a patch or what was there. */
function resultPath(result: unknown): string | null {
  if (!isRecord(result)) return null;
  if ("structuredPatch" in result) return path(result["filePath"]);
  if ("updated_file" in result) return path(result["notebook_path"]);
  return null;
}

function path(value: unknown): string | null {
  return typeof value === "string" && value !== "" && !value.includes("\0") ? value : null;
}
