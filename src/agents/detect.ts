/**
 * Which agent this is. What the user configured counts first, then what the payload shows, then the
 * environment and the repository, then the transcript, and at last nobody: `unknown`.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { asBuffer, completeLines, parseLine } from "../transcripts/lines.ts";
import { valueAt } from "./paths.ts";
import type { Profile, ScoreRule } from "./profile.ts";

export const UNKNOWN = "unknown";

/** A longer string is no name or path, and an expression could take for ever on it. */
const LONGEST_MATCHED = 4096;
const LINES_LOOKED_AT = 20;

export interface Evidence {
  payload: unknown;
  env: Readonly<Record<string, string | undefined>>;
  /** The repository's root, where it is known. */
  root: string | null;
}

export interface Score {
  id: string;
  score: number;
  /** The highest score of a single rule that held: it decides between equals. */
  strongest: number;
  minScore: number;
  /** The rules that held. */
  rules: ScoreRule[];
}

export type DetectedBy = "configuration" | "payload" | "environment" | "transcript path" | "transcript" | "nothing";

export interface Detected {
  id: string;
  by: DetectedBy;
}

export interface DetectionRequest extends Evidence {
  /** The agent that the user's configuration names. */
  configured?: string | undefined;
  transcriptPath?: string | null;
  /** The transcript's first lines, asked for only if nothing else tells. */
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

/** The highest score at or above its own minimum; then the strongest single rule, then the id's order. */
export function bestMatch(profiles: readonly Profile[], evidence: Evidence): Score | undefined {
  return scores(profiles, evidence).find((score) => score.score >= score.minScore);
}

/** Every profile's score, the best first. */
export function scores(profiles: readonly Profile[], evidence: Evidence): Score[] {
  return profiles.map((profile) => scoreOf(profile, evidence)).sort(byRank);
}

/** The agent whose lines these are, by their content alone. */
export function agentOfTranscript(profiles: readonly Profile[], bytes: Uint8Array): string | undefined {
  const lines = firstLines(bytes);
  const counts = profiles.map((profile) => ({
    id: profile.id,
    count: lines.filter((line) => isLineOf(profile, line)).length,
  }));
  const [best] = counts.sort((a, b) => b.count - a.count || compare(a.id, b.id));
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

/** A number is matched as it is written. */
function matches(given: unknown, regex: string): boolean {
  const value = typeof given === "number" ? String(given) : given;
  if (typeof value !== "string" || value.length > LONGEST_MATCHED) return false;
  try {
    return new RegExp(regex).test(value);
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function firstLines(bytes: Uint8Array): unknown[] {
  const buffer = asBuffer(bytes);
  const values: unknown[] = [];
  for (const line of completeLines(buffer)) {
    values.push(parseLine(buffer, line));
    if (values.length >= LINES_LOOKED_AT) break;
  }
  return values;
}

function isLineOf(profile: Profile, line: unknown): boolean {
  const groups = profile.transcript?.recognised_by ?? [];
  return groups.some((paths) => paths.every((path) => valueAt(line, path) !== undefined));
}

function byRank(a: Score, b: Score): number {
  const passed = Number(b.score >= b.minScore) - Number(a.score >= a.minScore);
  return passed || b.score - a.score || b.strongest - a.strongest || compare(a.id, b.id);
}

/** The same on every machine, whatever its language. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
