/**
 * Detects which agent called. The user's configuration wins, then the payload, then the environment and the repository,
 * then the transcript. If nothing matches, the agent is `unknown`.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { asBuffer, completeLines, isOneDocument, parseLine } from "../../transcripts/lines.ts";
import type { Profile, ScoreRule } from "../contract/profile.ts";
import { valueAt } from "./paths.ts";
import { matches as matchesRegex } from "./regex.ts";

export const UNKNOWN = "unknown";

const LINES_LOOKED_AT = 20;
const MAX_START_BYTES = 256 * 1024;
/** Only a complete document can be parsed. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

export interface Evidence {
  payload: unknown;
  env: Readonly<Record<string, string | undefined>>;
  /** The repository's root; null if unknown. */
  root: string | null;
}

export interface Score {
  id: string;
  score: number;
  /** The highest score of a single matching rule, used to break ties. */
  strongest: number;
  minScore: number;
  /** The rules that matched. */
  rules: ScoreRule[];
}

type DetectedBy = "configuration" | "payload" | "environment" | "transcript path" | "transcript" | "nothing";

export interface Detected {
  id: string;
  by: DetectedBy;
}

export interface DetectionRequest extends Evidence {
  /** The agent that the user's configuration names. */
  configured?: string | undefined;
  transcriptPath?: string | null;
  /** Reads the transcript's first lines. Called only if nothing else identifies the agent. */
  readTranscript?: () => Uint8Array | undefined;
}

export function detectAgent(profiles: readonly Profile[], request: DetectionRequest): Detected {
  if (request.configured) return { id: request.configured, by: "configuration" };
  const shown = bestMatch(profiles, { payload: request.payload, env: {}, root: null });
  if (shown) return { id: shown.id, by: "payload" };
  const around = bestMatch(profiles, request);
  if (around) return { id: around.id, by: "environment" };
  const path = request.transcriptPath;
  const placed = path ? agentOfTranscriptPath(profiles, path) : undefined;
  if (placed) return { id: placed, by: "transcript path" };
  const bytes = request.readTranscript?.();
  const written = bytes && agentOfTranscript(profiles, bytes);
  return written ? { id: written, by: "transcript" } : { id: UNKNOWN, by: "nothing" };
}

/** The highest score that reaches its profile's minimum. Ties: the strongest single rule, then the id's order. */
export function bestMatch(profiles: readonly Profile[], evidence: Evidence): Score | undefined {
  return scores(profiles, evidence).find((score) => score.score >= score.minScore);
}

/** Every profile's score, best first. */
export function scores(profiles: readonly Profile[], evidence: Evidence): Score[] {
  return profiles.map((profile) => scoreOf(profile, evidence)).sort(byRank);
}

/** Reads enough of a transcript to identify its agent; undefined if `path` is not a regular file. */
export function readStart(path: string): Uint8Array | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat?.isFile()) return undefined;
    const fd = openSync(path, "r");
    try {
      const start = readBytes(fd, Math.min(stat.size, MAX_START_BYTES));
      const isPart = stat.size > start.length && isOneDocument(start);
      return isPart && stat.size <= MAX_DOCUMENT_BYTES ? readBytes(fd, stat.size) : start;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function readBytes(fd: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, 0));
}

/** Identifies the agent that wrote a transcript, by content alone. */
export function agentOfTranscript(profiles: readonly Profile[], bytes: Uint8Array): string | undefined {
  const lists = profiles.flatMap(({ transcript }) => transcript?.lines?.list ?? []);
  const lines = firstLines(bytes, new Set(["$.messages", ...lists]));
  const counts = profiles.map((profile) => {
    const known = lines.map((line) => pathsKnown(profile, line)).filter((paths) => paths > 0);
    return { id: profile.id, count: known.length, paths: Math.max(0, ...known) };
  });
  // Some agents write lines that another agent's description fits too: the longer description is the right one.
  const [best] = counts.sort((a, b) => b.count - a.count || b.paths - a.paths || compare(a.id, b.id));
  return best && best.count > 0 ? best.id : undefined;
}

function agentOfTranscriptPath(profiles: readonly Profile[], path: string): string | undefined {
  const slashed = path.replaceAll("\\", "/");
  const holds = ({ transcript }: Profile) => transcript !== undefined && slashed.includes(`/${transcript.directory}/`);
  return profiles.filter(holds).sort((a, b) => compare(a.id, b.id))[0]?.id;
}

function scoreOf(profile: Profile, evidence: Evidence): Score {
  const rules = profile.detection.score_rules.filter((rule) => holds(rule, evidence));
  return {
    id: profile.id,
    score: rules.reduce((sum, rule) => sum + rule.score, 0),
    strongest: rules.reduce((most, rule) => Math.max(most, rule.score), 0),
    minScore: profile.detection.min_score,
    rules,
  };
}

function holds(rule: ScoreRule, { payload, env, root }: Evidence): boolean {
  const conditions: boolean[] = [];
  if (rule.path_exists !== undefined) conditions.push(valueAt(payload, rule.path_exists) !== undefined);
  if (rule.path_matches) conditions.push(matches(valueAt(payload, rule.path_matches.path), rule.path_matches.regex));
  if (rule.env_exists !== undefined) conditions.push(Boolean(env[rule.env_exists]));
  if (rule.dir_exists !== undefined) conditions.push(root !== null && isDirectory(join(root, rule.dir_exists)));
  return conditions.length > 0 && conditions.every(Boolean);
}

/** Matches a number by its decimal text. */
function matches(given: unknown, regex: string): boolean {
  const value = typeof given === "number" ? String(given) : given;
  return typeof value === "string" && matchesRegex(regex, value);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The first lines of a JSONL transcript, or a document and the messages at one of the places where documents have them. */
function firstLines(bytes: Uint8Array, lists: ReadonlySet<string>): unknown[] {
  const buffer = asBuffer(bytes);
  if (isOneDocument(buffer)) {
    const document = parseLine(buffer, { start: 0, end: buffer.length });
    const messages = messagesOf(document, lists);
    // A single line without its end may be one of many.
    return messages.length > 0 || buffer.includes("\n") ? [document, ...messages] : [];
  }
  const values: unknown[] = [];
  for (const line of completeLines(buffer)) {
    values.push(parseLine(buffer, line));
    if (values.length >= LINES_LOOKED_AT) break;
  }
  return values.length === 1 ? [...values, ...messagesOf(values[0], lists)] : values;
}

function messagesOf(document: unknown, lists: ReadonlySet<string>): unknown[] {
  for (const list of lists) {
    const messages = valueAt(document, list);
    if (Array.isArray(messages) && messages.length > 0) return messages.slice(0, LINES_LOOKED_AT);
  }
  return [];
}

/** The length of the longest group of paths that the line has; 0 if it is not a line of this agent. */
function pathsKnown(profile: Profile, line: unknown): number {
  const groups = profile.transcript?.recognised_by ?? [];
  const fitting = groups.filter((paths) => paths.every((path) => valueAt(line, path) !== undefined));
  return Math.max(0, ...fitting.map((paths) => paths.length));
}

function byRank(a: Score, b: Score): number {
  const passed = Number(b.score >= b.minScore) - Number(a.score >= a.minScore);
  return passed || b.score - a.score || b.strongest - a.strongest || compare(a.id, b.id);
}

/** Orders strings independently of the machine's locale. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
