/**
 * Reads Aider's history: `# aider chat started at …` starts a session, `#### ` precedes each line of a prompt, `> `
 * precedes Aider's own reports, and the rest is the model's answers. Aider ends its own lines with two spaces, which
 * distinguishes them from headings and quotations in an answer.
 */

import type { Tokens } from "../../../model/tokens.ts";
import { completeLines } from "../../../transcripts/lines.ts";
import type { TranscriptEntry, TranscriptItem } from "../../shared/transcript/items.ts";

export type HistoryLine =
  | { type: "session"; id: string }
  | { type: "prompt"; text: string }
  | { type: "report"; text: string }
  | { type: "answer"; text: string }
  | { type: "blank" };

interface Passage {
  type: "prompt" | "report" | "answer";
  text: string;
  start: number;
  end: number;
}

/** Consecutive lines of one prompt or answer form one entry. */
export function* readEntries(bytes: Buffer, from = 0): Generator<TranscriptEntry> {
  let passage = null as Passage | null;
  /** Blank lines belong to the answer around them; elsewhere they separate entries. */
  let blanks = 0;
  for (const { start, end } of completeLines(bytes, from)) {
    const line = historyLine(bytes.toString("utf8", start, end));
    if (line.type === "blank") blanks++;
    else if (line.type === "session") blanks = 0;
    else {
      const { type, text } = line;
      const continues = type === "answer" || (type === "prompt" && blanks === 0);
      if (passage?.type === type && continues) {
        passage.text += "\n".repeat(type === "answer" ? blanks + 1 : 1) + text;
        passage.end = end;
      } else {
        if (passage) yield entryOf(passage);
        passage = { type, text, start, end };
      }
      blanks = 0;
    }
  }
  if (passage) yield entryOf(passage);
}

function entryOf({ type, text, start, end }: Passage): TranscriptEntry {
  const items = type === "report" ? reportItems(text) : [wordsOf(type, text)];
  return { id: null, time: null, start, end, items, cuttable: false };
}

function wordsOf(type: "prompt" | "answer", text: string): TranscriptItem {
  return type === "answer" ? { kind: "answer", text } : { kind: "prompt", text, isCommand: !isRequest(text) };
}

function reportItems(text: string): TranscriptItem[] {
  if (text.startsWith("^C")) return [{ kind: "interrupted", text }];
  const file = /^Applied edit to (.+)$/.exec(text)?.[1];
  const items: TranscriptItem[] = [{ kind: "note", text, files: file === undefined ? [] : [file] }];
  const model = /^(?:Main model|Model): (\S+)/.exec(text)?.[1];
  if (model !== undefined) items.push({ kind: "model", model });
  if (text.startsWith("Tokens: ")) items.push({ kind: "usage", tokens: tokensIn(text), key: null });
  return items;
}

const SESSION = /^# aider chat started at (\d{4}-\d{2}-\d{2}) (\d{2}):(\d{2}):(\d{2})/;

export function historyLine(line: string): HistoryLine {
  if (line.trim() === "") return { type: "blank" };
  const session = SESSION.exec(line);
  if (session) return { type: "session", id: `${session[1]}T${session[2]}-${session[3]}-${session[4]}` };
  const text = line.replace(/\r$/, "");
  if (!text.endsWith("  ")) return { type: "answer", text };
  if (text.startsWith("#### ")) return { type: "prompt", text: text.slice("#### ".length).trimEnd() };
  if (text.startsWith("> ")) return { type: "report", text: text.slice("> ".length).trimEnd() };
  return { type: "answer", text };
}

/** Commands that only change what Aider reads or shows, and do not call the model. */
const LOCAL_COMMANDS =
  /^\/(?:add|drop|read-only|ls|tokens|help|settings|model|weak-model|editor-model|models|clear|reset|map|map-refresh|multiline-mode|copy|copy-context|report|save|load|chat-mode|think-tokens|reasoning-effort|exit|quit)(?:\s|$)/;

/** Whether the prompt makes a request to the model. */
export function isRequest(prompt: string): boolean {
  return prompt !== "" && prompt !== "<blank>" && !LOCAL_COMMANDS.test(prompt);
}

/** `Tokens: 2.3k sent, 1.1k cache write, 900 cache hit, 120 received.` */
function tokensIn(report: string): Tokens {
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
