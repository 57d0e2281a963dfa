/** Proves what a profile and its adapter make of recorded transcripts. Part of `agents check`. */
import { randomUUID } from "node:crypto";
import { messageOf } from "../base/errors.ts";
import { asBuffer, completeLines, parseLine } from "../transcripts/lines.ts";
import type { Agent } from "./agent.ts";
import { firstAt } from "./paths.ts";
import type { LinesSection, Profile } from "./profile.ts";

export interface TranscriptCheck {
  file: string;
  /** The agent that the content alone tells. */
  agent: string | null;
  prompts: number;
  answers: number;
  /** Files that tools wrote. */
  files: number;
  /** Of all kinds together. */
  tokens: number;
  model: string | null;
  /** Whether it was cut before each of its prompts but the first, and read again. */
  cut: boolean;
  problems: string[];
}

export interface LineFieldCheck {
  field: string;
  paths: string[];
  /** In how many lines, or blocks of lines. */
  found: number;
}

export function checkTranscript(agent: Agent, file: string, bytes: Uint8Array, told: string | null): TranscriptCheck {
  const { profile, analyser } = agent;
  const check: TranscriptCheck = {
    file,
    agent: told,
    prompts: 0,
    answers: 0,
    files: 0,
    tokens: 0,
    model: null,
    cut: false,
    problems: [],
  };
  if (profile.transcript && told !== profile.id) {
    check.problems.push(`its content is taken for ${told ?? "nobody"}'s: see transcript.recognised_by`);
  }
  if (!analyser) return check;
  try {
    const stretch = analyser.readStretch(bytes, 0);
    check.prompts = stretch.prompts.length;
    check.files = stretch.files.length;
    check.tokens = Object.values(stretch.tokens).reduce((sum, count) => sum + count, 0);
    check.model = stretch.model;
    check.answers = analyser.read(bytes).entries.filter((entry) => entry.type === "answer").length;
    // Code knows its transcripts; a description may be of something else.
    if (!profile.transcript?.lines) return check;
    if (check.prompts === 0) check.problems.push("no prompt was found: see type, types and text in transcript.lines");
    if (check.answers === 0) check.problems.push("no answer was found: see type, types and text in transcript.lines");
    if (agent.forker) check.problems.push(...cutProblems(agent, file, bytes, check));
  } catch (error) {
    check.problems.push(messageOf(error));
  }
  return check;
}

/** The paths of `transcript.lines`, each with how often it was found in the recorded transcripts. */
export function lineFieldChecks(profile: Profile, transcripts: readonly Uint8Array[]): LineFieldCheck[] {
  const lines = profile.transcript?.lines;
  if (!lines) return [];
  const values = transcripts.flatMap((bytes) => {
    const buffer = asBuffer(bytes);
    return [...completeLines(buffer)].map((at) => parseLine(buffer, at));
  });
  const blocks = values.flatMap((value) => firstAt(value, lines.blocks?.at) ?? []);
  return declaredPaths(lines).map(({ field, paths, ofBlock }) => ({
    field,
    paths,
    found: (ofBlock ? blocks : values).filter((value) => firstAt(value, paths) !== undefined).length,
  }));
}

function declaredPaths(lines: LinesSection): { field: string; paths: string[]; ofBlock: boolean }[] {
  const { types: _, blocks, tokens, ...own } = lines;
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

/** Cut before each prompt, the copy must hold the prompts up to there and belong to the new session. */
function cutProblems({ analyser, forker }: Agent, file: string, bytes: Uint8Array, check: TranscriptCheck): string[] {
  const prompts = analyser?.read(bytes).entries.filter((entry) => entry.type === "prompt") ?? [];
  const starts = [...new Set(prompts.map((entry) => entry.start))];
  for (const [count, start] of starts.entries()) {
    if (count === 0 || !analyser || !forker) continue;
    const newSessionId = randomUUID();
    const request = { lastId: null, transcriptPath: `/sessions/${file}`, projectRoot: "/project", title: "title" };
    const { content, transcriptPath } = forker.fork({ ...request, bytes: bytes.subarray(0, start), newSessionId });
    if (analyser.readStretch(content, 0).prompts.length !== count) {
      return [`cut before prompt ${count + 1}, the copy doesn't hold the ${count} before it`];
    }
    if (!transcriptPath.includes(newSessionId)) return ["a copy would not be named by its new session id"];
    check.cut = true;
  }
  return [];
}
