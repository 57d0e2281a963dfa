/** Proposes a profile's `transcript`: chooses the file with the conversation, and describes its place and lines. */
import { basename, dirname, extname } from "node:path";
import { isRecord } from "../../../base/json.ts";
import { asBuffer, completeLines, isOneDocument, parseLine } from "../../../transcripts/lines.ts";
import type { LinesSection, TranscriptSection } from "../../contract/profile.ts";
import { isSessionId } from "../../generic/place.ts";
import { valueAt } from "../../registry/paths.ts";
import type { Transcript } from "../capture/format.ts";
import type { Doubt } from "./doubts.ts";
import { proposeLineFields } from "./line-fields.ts";
import { nodesOf } from "./nodes.ts";
import { proposePlace } from "./place.ts";
import { proposeTextRules } from "./text-rules.ts";
import { proposeToolRules, type ToolUse } from "./tool-rules.ts";
import { leavesOf } from "./walk.ts";

const MAX_LINES = 4_000;
const MAX_KINDS = 24;

export interface Known {
  home: string | null;
  cwd: string | null;
  sessions: readonly string[];
  prompts: readonly string[];
  answers: readonly string[];
  model: string | null;
  /** The paths of transcripts that payloads name. */
  named: readonly string[];
}

export interface TranscriptProposal {
  transcript: TranscriptSection;
  /** The recorded file that it was made from. */
  file: string;
  uses: ToolUse[];
  doubts: Doubt[];
}

/** Undefined if no recorded file holds a conversation. */
export function proposeTranscript(
  id: string,
  recorded: readonly Transcript[],
  known: Known,
): TranscriptProposal | undefined {
  const scored = recorded
    .map((each) => ({ each, content: contentOf(each), score: scoreOf(each, known) }))
    .filter(({ content, score }) => content.lines.length > 0 && score > 0)
    .sort((a, b) => b.score - a.score || b.each.bytes.length - a.each.bytes.length);
  const [best] = scored;
  if (!best) return undefined;
  const { each, content } = best;
  const path = each.path ?? known.named[0] ?? null;
  const home = known.home ?? homeOf(path);
  const guessed = known.sessions.length === 0 && path !== null ? sessionOfFile(path, content) : null;
  const session = known.sessions.find((id) => path?.includes(id)) ?? guessed?.id ?? null;
  const sessions = guessed ? [guessed.id] : known.sessions;
  const { lines, uses, doubts } = proposeLines(content, { ...known, sessions });
  if (!lines) return undefined;
  const isNamed = known.named.length > 0;
  const { doubts: aboutPlace, ...place } =
    path === null || home === null
      ? {
          directory: `.${id}`,
          doubts: [{ kind: "place-unknown", key: "transcript.directory", part: each.file } as const],
        }
      : proposePlace(path, { home, cwd: known.cwd, session, isNamed, fallback: `.${id}` });
  return {
    transcript: {
      format: content.list === null ? "jsonl" : "json",
      ...place,
      recognised_by: groupsOf(content),
      lines,
      fork: true,
    },
    file: each.file,
    uses,
    doubts: [
      ...aboutPlace,
      ...(guessed && !guessed.isTold
        ? [{ kind: "session-guessed", key: "transcript.place", id: guessed.id } as const]
        : []),
      ...doubts,
    ],
  };
}

/** A name for the file's content, not for its session. */
const COMMON_NAME = /^(conversation|messages?|transcript|history|chat|session|log|wire|context|main|events|state)$/i;

/** The session of a file that no hook named: the id that the content repeats, or an uncommon file name. */
function sessionOfFile(path: string, { lines, document }: Content): { id: string; isTold: boolean } | null {
  const name = basename(path, extname(path));
  const id = COMMON_NAME.test(name) ? basename(dirname(path)) : name;
  const values = [document, ...lines].flatMap((value) => leavesOf(value, 1));
  const isTold = values.some(({ key, value }) => value === id && /id$|session|thread|conversation/i.test(key));
  return isSessionId(id) && (isTold || COMMON_NAME.test(name) || /\d{4}|[0-9a-f]{8}/.test(id)) ? { id, isTold } : null;
}

/** Recordings of other machines name no home directory: it is the part before the first hidden directory. */
function homeOf(path: string | null): string | null {
  return path === null ? null : (/^(.+?)\/\.[A-Za-z]/.exec(path)?.[1] ?? null);
}

function scoreOf({ path, bytes, changes }: Transcript, { prompts, sessions, named }: Known): number {
  const text = bytes.toString("utf8");
  const said = prompts.filter((prompt) => text.includes(JSON.stringify(prompt).slice(1, -1))).length;
  const isOfSession = sessions.some((id) => path?.includes(id) || text.includes(id));
  const isNamed = path !== null && named.includes(path);
  const talks = /"role"|"prompt"|"user"|"human"/i.test(text);
  return (isNamed ? 50 : 0) + said * 10 + (isOfSession ? 5 : 0) + Math.min(changes, 3) + (talks ? 1 : 0);
}

interface Content {
  /** The lines, or the messages of a document. */
  lines: unknown[];
  document: unknown;
  /** The list of messages; null for lines. */
  list: string | null;
}

function contentOf({ bytes, file }: Transcript): Content {
  const buffer = asBuffer(bytes);
  // All of a document may be one line.
  const isLine = buffer.indexOf(10) === buffer.length - 1;
  if (isOneDocument(buffer) || (isLine && file.endsWith(".json"))) {
    const document = parseLine(buffer, { start: 0, end: buffer.length });
    const lists = leavesOf(document, 3).filter(({ value }) => Array.isArray(value) && value.some(isRecord));
    const talks = (value: unknown) =>
      (value as unknown[]).filter((item) => isRecord(item) && ("role" in item || "type" in item)).length;
    const [best] = lists.sort((a, b) => talks(b.value) - talks(a.value));
    return { document, list: best?.path ?? "$.messages", lines: (best?.value as unknown[] | undefined) ?? [] };
  }
  const lines: unknown[] = [];
  for (const at of completeLines(buffer)) {
    if (lines.length >= MAX_LINES) break;
    lines.push(parseLine(buffer, at));
  }
  return { document: undefined, list: null, lines: lines.filter(isRecord) };
}

function proposeLines(content: Content, known: Known): { lines?: LinesSection; uses: ToolUse[]; doubts: Doubt[] } {
  const nodes = content.lines.flatMap((line, index) => nodesOf(line, index));
  const tools = proposeToolRules(nodes);
  const texts = proposeTextRules(content.lines, nodes, tools, known);
  const rules = [...texts.rules, ...tools.rules];
  if (!rules.some(({ is }) => is === "prompt" || is === "answer")) return { uses: [], doubts: [] };
  const { doubts, ...fields } = proposeLineFields(content.lines, content.document, rules, known);
  return {
    lines: {
      ...(content.list === null ? {} : { list: content.list }),
      rules,
      ...(texts.promptText === undefined ? {} : { prompt_text: texts.promptText }),
      ...fields,
    },
    uses: tools.uses,
    doubts,
  };
}

/** For each kind of line, the keys that all of its lines have. Longer groups win over another agent's. */
function groupsOf({ lines, document }: Content): string[][] {
  const all = document === undefined ? lines : [document];
  const kind = (line: unknown) => String(valueAt(line, "$.type") ?? valueAt(line, "$.role") ?? "");
  // In the order of the file, because an agent is recognized by its first lines.
  const kinds = [...new Set(all.map(kind))];
  const groups = kinds.slice(0, MAX_KINDS).map((each) => {
    const own = all.filter((line) => kind(line) === each);
    const paths = leavesOf(own[0], 1).map(({ path }) => path);
    return paths.filter((path) => own.every((line) => valueAt(line, path) !== undefined)).slice(0, 12);
  });
  const useful = groups.filter((paths) => paths.length >= 2).map((paths) => [...paths].sort());
  const unique = [...new Map(useful.map((paths) => [paths.join(), paths])).values()];
  return unique.length > 0 ? unique : [groups[0] ?? ["$.type"]];
}
