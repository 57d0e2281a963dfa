/** Files that Pi's tools wrote. What commands change is not among them: nobody can tell whose it is. */
import { isRecord } from "../profile.ts";
import type { WrittenFiles } from "../written-files.ts";
import type { PiEntry } from "./lines.ts";

export function addFiles(files: WrittenFiles, { blocks, result }: PiEntry): void {
  for (const block of blocks) {
    const path = block.type === "toolCall" ? writtenPath(block.name, block.input) : null;
    if (block.type === "toolCall" && path !== null) files.addUse(block.id, [path]);
  }
  if (result !== null) files.addResult(result.toolUseId, result.failed);
}

/** The file that a use of a writing tool names. */
export function writtenPath(tool: string, input: unknown): string | null {
  if ((tool !== "write" && tool !== "edit") || !isRecord(input)) return null;
  const { path } = input;
  return typeof path === "string" && path !== "" && !path.includes("\0") ? path : null;
}
