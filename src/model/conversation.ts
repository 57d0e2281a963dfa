/** The conversation in an agent-neutral form: ordered entries that refer to byte ranges of the transcript. */
import { NO_TOKENS, type Tokens } from "./tokens.ts";

export type EntryType = "prompt" | "answer" | "thinking" | "tool-use" | "tool-result" | "compaction" | "note";

export interface Entry {
  /** The agent's own id for the line or message; null if it has none. */
  id: string | null;
  type: EntryType;
  time: string | null;
  /** Text of a prompt, an answer or a note, or a tool's output. */
  text: string;
  toolName: string | null;
  toolUseId: string | null;
  toolInput: unknown;
  /** Files that the entry reports as written, as the agent names them. */
  files: string[];
  /** The result of a tool that reports a failure. */
  failed?: true;
  /** The agent's working directory at that moment, if the transcript has it. */
  cwd?: string;
  /** Byte range of the transcript line that holds the entry. */
  start: number;
  end: number;
}

/** The content of a transcript from an offset to its end: a turn's new tail, never the whole file. */
export interface TranscriptSlice {
  /** Offset of the end of the last complete line. A partial last line is not read. */
  end: number;
  /** Id of the last entry at which a conversation can be cut. */
  lastId: string | null;
  prompts: string[];
  /** Files that tools wrote, absolute or as the agent names them. */
  files: string[];
  tokens: Tokens;
  /** The slice has answers but no token counts, so the zeros in `tokens` mean unknown. */
  tokensUnknown?: true;
  /** Number of the model's answers that report token counts. */
  apiCalls?: number;
  /** Their cost in US dollars, if the agent reports it for all of them. */
  usd?: number;
  model: string | null;
  lastAnswer: string | null;
  /** Whether the user interrupted the last turn, for which no end event ever arrives. */
  interrupted: boolean;
}

export interface Conversation {
  entries: Entry[];
  /** The title that the agent shows, if it keeps one. */
  title: string | null;
  model: string | null;
  tokens: Tokens;
  /** See `TranscriptSlice.tokensUnknown`. */
  tokensUnknown?: true;
}

/** An empty entry at that byte range: a note without text. */
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

/** A slice without content. */
export function emptySlice(end: number): TranscriptSlice {
  return {
    end,
    lastId: null,
    prompts: [],
    files: [],
    tokens: { ...NO_TOKENS },
    model: null,
    lastAnswer: null,
    interrupted: false,
  };
}
