/** Files that Droid's tools wrote, from their uses and results. */
import { patchedPaths } from "../patch.ts";
import { isRecord } from "../profile.ts";
import type { WrittenFiles } from "../written-files.ts";
import type { MessageLine } from "./lines.ts";

export function addFiles(files: WrittenFiles, line: MessageLine): void {
  for (const block of line.blocks) {
    if (block.type === "tool_use") files.addUse(block.id, writtenPaths(block.name, block.input));
    if (block.type === "tool_result") files.addResult(block.id, block.error);
  }
}

/** The files that a use of a writing tool names. */
export function writtenPaths(tool: string, input: unknown): string[] {
  if (tool === "ApplyPatch") return pathsInPatch(input);
  if (tool !== "Create" && tool !== "Edit" && tool !== "MultiEdit") return [];
  const path = isRecord(input) ? input["file_path"] : undefined;
  return typeof path === "string" && path !== "" && !path.includes("\0") ? [path] : [];
}

/** The files that a patch names, be it the input itself or a field of it. */
export function pathsInPatch(input: unknown): string[] {
  const patch = isRecord(input) ? (input["input"] ?? input["patch"]) : input;
  return typeof patch === "string" ? patchedPaths(patch) : [];
}
