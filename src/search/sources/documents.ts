/** Turns the entries of a conversation into documents of the index, one for each text and field. */
import type { Entry } from "../../model/conversation.ts";
import type { NewDocument } from "../index/documents.ts";

const FIELD_OF = {
  prompt: "prompt",
  answer: "answer",
  compaction: "answer",
  thinking: "thinking",
  "tool-result": "output",
} as const;

/** Deeper values of a tool's input are left out. */
const MAX_DEPTH = 12;

export interface Position {
  /** The number of prompts so far. */
  turns: number;
  /** The time of entries without one, in milliseconds. */
  time: number;
}

/** Counts prompts in `position` on the way. `offsetOf` gives an entry's place in the transcript. */
export function* documentsOf(
  entries: Iterable<Entry>,
  position: Position,
  offsetOf: (entry: Entry) => number,
): Generator<NewDocument> {
  for (const entry of entries) {
    if (entry.type === "prompt") position.turns++;
    const time = entry.time === null ? Number.NaN : Date.parse(entry.time);
    if (!Number.isNaN(time)) position.time = time;
    const common = { time: position.time, turn: position.turns, position: offsetOf(entry) };
    if (entry.type === "tool-use") {
      const text = [entry.toolName ?? "", ...textsIn(entry.toolInput, 0)].filter((one) => one !== "").join("\n");
      yield { ...common, field: "command", text };
      const paths = [...new Set(entry.files)].join("\n");
      if (paths !== "") yield { ...common, field: "path", text: paths };
    } else if (entry.type !== "note") {
      yield { ...common, field: FIELD_OF[entry.type], text: entry.text };
    }
  }
}

/** The texts in a tool's input, in order. */
function textsIn(value: unknown, depth: number): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return [];
  return Object.values(value).flatMap((one) => textsIn(one, depth + 1));
}
