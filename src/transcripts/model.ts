/** A conversation as every agent's transcript can be read: entries in order, the native bytes beside it. */
export type EntryType = "prompt" | "answer" | "thinking" | "tool-use" | "tool-result" | "compaction" | "note";

export interface Entry {
  /** The agent's own id for the line or message; null where it has none. */
  id: string | null;
  type: EntryType;
  time: string | null;
  /** Text of a prompt, an answer, a note; a tool's output. */
  text: string;
  toolName: string | null;
  toolUseId: string | null;
  toolInput: unknown;
  /** Files that this entry says were written, as the agent names them. */
  files: string[];
  /** Byte range of the native line that holds the entry. */
  start: number;
  end: number;
}

export interface Tokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

export const NO_TOKENS: Readonly<Tokens> = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export interface FileChanges {
  added: string[];
  modified: string[];
  deleted: string[];
}

/** What one stretch of a transcript says, read from an offset to its end: never the whole file for a turn. */
export interface TranscriptStretch {
  /** End of the last complete line, as an offset into the file. A torn last line is not read. */
  end: number;
  /** The last entry's id that a conversation can be cut at. */
  lastId: string | null;
  prompts: string[];
  /** Files that tools wrote, absolute or as the agent gave them. */
  files: string[];
  tokens: Tokens;
  model: string | null;
  lastAnswer: string | null;
  /** Whether the last turn in it was broken off by the user (no end event ever comes for it). */
  interrupted: boolean;
  /** Whether it holds a compaction mark. */
  compacted: boolean;
}

export interface Conversation {
  entries: Entry[];
  /** The title the agent shows for it, where it keeps one. */
  title: string | null;
  model: string | null;
  tokens: Tokens;
}

/** An entry at that place with nothing in it yet: a note without words. */
export function blankEntry({ id, time }: Pick<Entry, "id" | "time">, at: Pick<Entry, "start" | "end">): Entry {
  return {
    id,
    type: "note",
    time,
    text: "",
    toolName: null,
    toolUseId: null,
    toolInput: null,
    files: [],
    start: at.start,
    end: at.end,
  };
}

/** A stretch up to there that says nothing yet. */
export function blankStretch(end: number): TranscriptStretch {
  return {
    end,
    lastId: null,
    prompts: [],
    files: [],
    tokens: { ...NO_TOKENS },
    model: null,
    lastAnswer: null,
    interrupted: false,
    compacted: false,
  };
}

/** A number of tokens as an agent wrote it; what is no such number counts for nothing. */
export function tokenCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** What a running count has grown by; never less than nothing. */
export function tokensBetween(before: Tokens, after: Tokens): Tokens {
  return {
    input: Math.max(0, after.input - before.input),
    output: Math.max(0, after.output - before.output),
    cacheRead: Math.max(0, after.cacheRead - before.cacheRead),
    cacheWrite: Math.max(0, after.cacheWrite - before.cacheWrite),
  };
}

export function addTokens(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}

export function sumOfTokens(counts: Iterable<Tokens>): Tokens {
  return [...counts].reduce(addTokens, { ...NO_TOKENS });
}
