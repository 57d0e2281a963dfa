/** Builds an agent's transcript analyzer from the function that reads its format. */
import { asBuffer, endOfLines } from "../../../transcripts/lines.ts";
import type { TranscriptAnalyzer } from "../../contract/agent.ts";
import { conversationOf } from "./conversation.ts";
import type { ReadEntries, TranscriptEntry } from "./items.ts";
import { sliceOf } from "./slice.ts";

export function analyzerOf(
  readEntries: ReadEntries,
  more: Pick<TranscriptAnalyzer, "isWhole" | "countsTokens"> = {},
): TranscriptAnalyzer {
  return {
    ...more,
    readSlice(bytes, offset, after = null) {
      const buffer = asBuffer(bytes);
      const entries = readEntries(buffer, 0, true);
      if (more.isWhole === undefined) return sliceOf(entries, offset + endOfLines(buffer));
      const all = [...entries];
      // A document's entry covers the whole document, even without a final newline.
      const end = Math.max(endOfLines(buffer), all.at(-1)?.end ?? 0);
      return sliceOf(entriesAfter(all, after), offset + end);
    },
    read: (bytes) => conversationOf(readEntries(asBuffer(bytes))),
  };
}

/** An agent rewrites a document as a whole with every turn, so only entries after the entry `after` are new. */
function entriesAfter(entries: readonly TranscriptEntry[], after: string | null): readonly TranscriptEntry[] {
  return after === null ? entries : entries.slice(entries.findLastIndex(({ id }) => id === after) + 1);
}
