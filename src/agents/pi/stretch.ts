/**
 * Reads one stretch of a session: what a turn added, never the whole. A turn stays on its branch, so its lines are read
 * as they come.
 */
import { asBuffer, endOfLines, readLines } from "../../transcripts/lines.ts";
import { addTokens, blankStretch, type TranscriptStretch } from "../../transcripts/model.ts";
import { WrittenFiles } from "../written-files.ts";
import { Chain } from "./chain.ts";
import { addFiles } from "./files.ts";
import { isPrompt, readEntry, textOf } from "./lines.ts";

export function readStretch(bytes: Uint8Array, offset: number): TranscriptStretch {
  const buffer = asBuffer(bytes);
  const chain = new Chain();
  const files = new WrittenFiles();
  const stretch = blankStretch(offset + endOfLines(buffer));
  for (const [entry] of readLines(buffer, readEntry)) {
    if (chain.add(entry)) stretch.lastId = entry.id;
    addFiles(files, entry);
    if (entry.tokens) stretch.tokens = addTokens(stretch.tokens, entry.tokens);
    if (entry.type === "compaction") stretch.compacted = true;
    const words = textOf(entry.blocks).trim();
    if (isPrompt(entry) && words !== "") stretch.prompts.push(words);
    if (isPrompt(entry)) stretch.interrupted = false;
    if (entry.role !== "assistant") continue;
    stretch.model = entry.model ?? stretch.model;
    stretch.lastAnswer = words || stretch.lastAnswer;
    stretch.interrupted = entry.stopReason === "aborted";
  }
  return { ...stretch, files: files.list() };
}
