/** Aider's history as a transcript: prompts, answers, files, tokens and model of a stretch, or all of it. */
import { asBuffer, completeLines, endOfLines } from "../../transcripts/lines.ts";
import {
  addTokens,
  type Conversation,
  type Entry,
  NO_TOKENS,
  type Tokens,
  type TranscriptStretch,
} from "../../transcripts/model.ts";
import { historyLine, isRequest } from "./lines.ts";

export function readStretch(bytes: Uint8Array, offset: number): TranscriptStretch {
  const { entries, model, tokens } = readConversation(bytes);
  const prompts = entries.filter((entry) => entry.type === "prompt" && isRequest(entry.text));
  return {
    end: offset + endOfLines(bytes),
    lastId: null,
    prompts: prompts.map(({ text }) => text),
    files: [...new Set(entries.flatMap(({ files }) => files))],
    tokens,
    model,
    lastAnswer: entries.findLast(({ type }) => type === "answer")?.text ?? null,
    interrupted: isBrokenOff(entries),
    compacted: false,
  };
}

export function readConversation(bytes: Uint8Array): Conversation {
  const buffer = asBuffer(bytes);
  const conversation: Conversation = { entries: [], title: null, model: null, tokens: { ...NO_TOKENS } };
  const { entries } = conversation;
  /** Blank lines inside an answer belong to it; between others they part them. */
  let blanks = 0;
  for (const { start, end } of completeLines(buffer)) {
    const line = historyLine(buffer.toString("utf8", start, end));
    if (line.type === "blank") {
      blanks++;
      continue;
    }
    const last = entries.at(-1);
    if (line.type === "session") {
      blanks = 0;
      continue;
    }
    const type = line.type === "report" ? "note" : line.type;
    const continues = type === "answer" ? last?.type === "answer" : type === "prompt" && blanks === 0;
    if (last && last.type === type && continues) {
      last.text += "\n".repeat(type === "answer" ? blanks + 1 : 1) + line.text;
      last.end = end;
    } else entries.push({ ...entryOf(type, line.text), start, end });
    blanks = 0;
    if (line.type !== "report") continue;
    conversation.model = modelIn(line.text) ?? conversation.model;
    conversation.tokens = addTokens(conversation.tokens, tokensIn(line.text));
  }
  return conversation;
}

function entryOf(type: Entry["type"], text: string): Omit<Entry, "start" | "end"> {
  const file = type === "note" ? /^Applied edit to (.+)$/.exec(text)?.[1] : undefined;
  return {
    id: null,
    type,
    time: null,
    text,
    toolName: null,
    toolUseId: null,
    toolInput: null,
    files: file === undefined ? [] : [file],
  };
}

function isBrokenOff(entries: readonly Entry[]): boolean {
  const mark = entries.findLastIndex(({ type, text }) => type === "note" && text.startsWith("^C"));
  return mark >= 0 && !entries.slice(mark).some(({ type }) => type === "prompt" || type === "answer");
}

function modelIn(report: string): string | null {
  return /^(?:Main model|Model): (\S+)/.exec(report)?.[1] ?? null;
}

/** `Tokens: 2.3k sent, 1.1k cache write, 900 cache hit, 120 received.` */
function tokensIn(report: string): Tokens {
  if (!report.startsWith("Tokens: ")) return NO_TOKENS;
  const count = (word: string) => {
    const found = new RegExp(`([\\d.,]+)([kM]?) ${word}`).exec(report);
    const number = Number(found?.[1]?.replaceAll(",", "").replace(/\.$/, "") ?? 0);
    const scale = found?.[2] === "k" ? 1_000 : found?.[2] === "M" ? 1_000_000 : 1;
    return Number.isFinite(number) ? Math.round(number * scale) : 0;
  };
  return {
    input: count("sent"),
    output: count("received"),
    cacheRead: count("cache hit"),
    cacheWrite: count("cache write"),
  };
}
