/** Checks how a profile and its adapter read recorded transcripts. Part of `agents check`. */
import { randomUUID } from "node:crypto";
import { messageOf } from "../../base/errors.ts";
import { asBuffer, completeLines, parseLine } from "../../transcripts/lines.ts";
import type { Agent } from "../contract/agent.ts";
import type { LineRule, LinesSection, Profile } from "../contract/profile.ts";
import { descriptionOf } from "../generic/agent.ts";
import { entryReader, messagesIn, readLine } from "../generic/transcript.ts";
import { holds } from "../registry/conditions.ts";
import { firstAt } from "../registry/paths.ts";
import type { TranscriptItem } from "../shared/transcript/items.ts";

export interface TranscriptCheck {
  file: string;
  /** The agent detected from the content alone. */
  agent: string | null;
  prompts: number;
  answers: number;
  /** The number of files that tools wrote. */
  files: number;
  /** The sum of all kinds of tokens. */
  tokens: number;
  model: string | null;
  /** Whether the transcript was cut before each prompt but the first, and read again. */
  cut: boolean;
  /** Which rule read which line, in order. */
  lines: ReadLine[];
  problems: string[];
}

interface ReadLine {
  /** The line, or the message of a document, from 1. */
  line: number;
  /** The place of the rule in `transcript.lines.rules`; null where `types` decided. */
  rule: number | null;
  is: string;
  text: string;
}

export interface LineFieldCheck {
  field: string;
  paths: string[];
  /** The number of lines, or blocks in lines, with this field. */
  found: number;
}

export function checkTranscript(agent: Agent, file: string, bytes: Uint8Array, told: string | null): TranscriptCheck {
  const { profile, analyzer } = agent;
  const check: TranscriptCheck = {
    file,
    agent: told,
    prompts: 0,
    answers: 0,
    files: 0,
    tokens: 0,
    model: null,
    cut: false,
    lines: readLines(agent, bytes),
    problems: [],
  };
  if (profile.transcript && told !== profile.id) {
    check.problems.push(`its content is recognized as ${told ?? "nobody"}'s: see transcript.recognised_by`);
  }
  if (!analyzer) return check;
  try {
    const slice = analyzer.readSlice(bytes, 0);
    check.prompts = slice.prompts.length;
    check.files = slice.files.length;
    check.tokens = Object.values(slice.tokens).reduce((sum, count) => sum + count, 0);
    check.model = slice.model;
    check.answers = analyzer.read(bytes).entries.filter((entry) => entry.type === "answer").length;
    // An adapter knows its transcripts, but a profile's description may not match them.
    if (!profile.transcript?.lines) return check;
    if (check.prompts === 0) check.problems.push("no prompt was found: see type, types and text in transcript.lines");
    if (check.answers === 0)
      check.problems.push("no answer was found: see transcript.lines, or remove it if answers are elsewhere");
    if (agent.forker) check.problems.push(...cutProblems(agent, file, bytes, check));
  } catch (error) {
    check.problems.push(messageOf(error));
  }
  return check;
}

/** The lines that say something, by the functions that hooks use: each rule alone, so that it is known which one fired. */
function readLines({ profile }: Agent, bytes: Uint8Array): ReadLine[] {
  const lines = profile.transcript?.lines;
  if (!lines) return [];
  const rules: (number | null)[] = lines.rules ? [...lines.rules.keys()] : [null];
  return valuesIn(bytes, lines).flatMap((value, index) =>
    rules.flatMap((rule) => {
      const own =
        rule === null ? lines : { ...lines, rules: [lines.rules?.[rule]].filter((each) => each !== undefined) };
      const items = readLine(value, descriptionOf(profile, own))?.items ?? [];
      return items
        .filter(({ kind }) => rule === null || kind === lines.rules?.[rule]?.is)
        .map((item) => ({ line: index + 1, rule, is: item.kind, text: sayingOf(item) }));
    }),
  );
}

function sayingOf(item: TranscriptItem): string {
  if (item.kind === "tool-use") return [item.toolName, item.toolUseId, ...(item.files ?? [])].filter(Boolean).join(" ");
  if (item.kind === "tool-result") return [item.toolUseId, item.text].filter(Boolean).join(" ");
  if (item.kind === "usage") return String(Object.values(item.tokens ?? {}).reduce((sum, count) => sum + count, 0));
  return "text" in item && item.text !== null ? item.text : "model" in item ? item.model : "";
}

function documentIn(bytes: Uint8Array): unknown {
  return parseLine(asBuffer(bytes), { start: 0, end: bytes.length });
}

function valuesIn(bytes: Uint8Array, lines: LinesSection): unknown[] {
  const buffer = asBuffer(bytes);
  if (lines.list !== undefined) return messagesIn(buffer, lines);
  return [...completeLines(buffer)].map((at) => parseLine(buffer, at));
}

/** Counts how often each path of `transcript.lines` occurs in the recorded transcripts. */
export function lineFieldChecks(profile: Profile, transcripts: readonly Uint8Array[]): LineFieldCheck[] {
  const lines = profile.transcript?.lines;
  if (!lines) return [];
  const messages = transcripts.flatMap((bytes) => valuesIn(bytes, lines));
  // A document has its own fields, such as the session's id.
  const documents = lines.list === undefined ? [] : transcripts.map((bytes) => documentIn(bytes));
  const values = [...messages, ...documents];
  const blocks = values.flatMap((value) => firstAt(value, lines.blocks?.at) ?? []);
  const declared = declaredPaths(lines).map(({ field, paths, ofBlock }) => ({
    field,
    paths,
    found: (ofBlock ? blocks : values).filter((value) => firstAt(value, paths) !== undefined).length,
  }));
  return [...declared, ...(lines.rules ?? []).map((rule, i) => ruleCheck(rule, i, messages))];
}

/** How many lines, or members of their lists, a rule applies to. */
function ruleCheck(rule: LineRule, index: number, values: readonly unknown[]): LineFieldCheck {
  const lines = values.filter((value) => holds(rule.when, value));
  const members = rule.in ? lines.flatMap((line) => firstAt(line, rule.in) ?? []) : lines;
  const found = members.filter((member) => holds(rule.each, member)).length;
  return { field: `rules.${index} (${rule.is})`, paths: rule.in ?? [], found };
}

function declaredPaths(lines: LinesSection): { field: string; paths: string[]; ofBlock: boolean }[] {
  const { types: _, rules: __, blocks, tokens, ...own } = lines;
  const { at, ...inBlocks } = blocks ?? {};
  return [
    ...named("", own, false),
    ...named("tokens.", tokens ?? {}, false),
    ...named("blocks.", { at }, false),
    ...named("blocks.", inBlocks, true),
  ];
}

function named(prefix: string, group: object, ofBlock: boolean) {
  const entries = Object.entries(group).filter((entry): entry is [string, string[]] => Array.isArray(entry[1]));
  return entries.map(([field, paths]) => ({ field: `${prefix}${field}`, paths, ofBlock }));
}

/** What comes before each prompt: of lines, their bytes; of a document, all of it and the last message's id. */
function cutsIn({ profile, analyzer }: Agent, bytes: Uint8Array): { bytes: Uint8Array; lastId: string | null }[] {
  const lines = profile.transcript?.lines;
  if (lines?.list === undefined) {
    const prompts = analyzer?.read(bytes).entries.filter((entry) => entry.type === "prompt") ?? [];
    return [...new Set(prompts.map(({ start }) => start))].map((start) => ({
      bytes: bytes.subarray(0, start),
      lastId: null,
    }));
  }
  const messages = [...entryReader(descriptionOf(profile, lines))(asBuffer(bytes))];
  return messages.flatMap(({ items }, index) =>
    items.some(({ kind }) => kind === "prompt") ? [{ bytes, lastId: messages[index - 1]?.id ?? null }] : [],
  );
}

/** Cuts before each prompt. The copy must contain the prompts before the cut and belong to the new session. */
function cutProblems(agent: Agent, file: string, bytes: Uint8Array, check: TranscriptCheck): string[] {
  const { analyzer, forker } = agent;
  for (const [count, cut] of cutsIn(agent, bytes).entries()) {
    if (count === 0 || !analyzer || !forker) continue;
    const newSessionId = randomUUID();
    const request = { transcriptPath: `/sessions/${file}`, projectRoot: "/project", title: "title" };
    const { content, transcriptPath } = forker.fork({ ...request, ...cut, newSessionId });
    if (analyzer.readSlice(content, 0).prompts.length !== count) {
      return [`cut before prompt ${count + 1}, the copy doesn't hold the ${count} before it`];
    }
    if (!transcriptPath.includes(newSessionId)) return ["a copy would not be named by its new session id"];
    check.cut = true;
  }
  return [];
}
