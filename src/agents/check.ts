/**
 * Proves an agent against what it really sent: the profile against its schema, every recorded payload through
 * the same road that hooks take. Behind `agents check <id>`; prints nothing.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf, UserError } from "../base/errors.ts";
import { readJson } from "../base/files.ts";
import type { Agent } from "./agent.ts";
import { checkTranscript, type LineFieldCheck, lineFieldChecks, type TranscriptCheck } from "./check-transcript.ts";
import { agentOfTranscript } from "./detect.ts";
import type { EventType } from "./event.ts";
import { contextOf, readPayload, toEnvelope } from "./normalise.ts";
import { firstAt } from "./paths.ts";
import type { FieldName } from "./profile.ts";
import { getAgent, listAgents, userAgentsDirectory } from "./registry.ts";
import { problemsOf } from "./schema.ts";

export interface CheckReport {
  id: string;
  ok: boolean;
  /** What is wrong with the profile itself. */
  problems: string[];
  /** Where fixtures were looked for. */
  fixtures: string;
  payloads: PayloadCheck[];
  transcripts: TranscriptCheck[];
  /** Every canonical field that the profile knows a path for, and in how many payloads it was found. */
  fields: FieldCheck[];
  /** The same for the paths of `transcript.lines`. */
  lineFields: LineFieldCheck[];
  /** Hooks that would be installed, but of which no payload was recorded; and lines without a transcript. */
  unproven: string[];
}

export interface PayloadCheck {
  file: string;
  event: string;
  /** Null: acknowledged and ignored. */
  type: EventType | null;
  found: FieldName[];
  missing: FieldName[];
  problems: string[];
  /** Written by the scaffold, not by the agent. */
  example: boolean;
}

export interface FieldCheck {
  field: FieldName;
  paths: string[];
  found: number;
}

/** What an event of a type is worth nothing without. */
const NEEDED: Partial<Record<EventType, FieldName[]>> = {
  TurnStart: ["prompt"],
  ToolStart: ["tool_name"],
  ToolEnd: ["tool_name"],
  SubagentStart: ["subagent_id"],
  SubagentEnd: ["subagent_id"],
};

export async function checkAgent(id: string, options: { fixtures?: string } = {}): Promise<CheckReport> {
  const fixtures = options.fixtures ?? join(userAgentsDirectory(), id);
  const agent = await getAgent(id);
  const ownProblems = problemsOfOwnFile(id);
  if (!agent) {
    if (ownProblems === undefined) {
      throw new UserError("not-found", `There is no agent "${id}".`, `Make one with: backtrail agents new ${id}`);
    }
    const problems = ownProblems.length > 0 ? ownProblems : ["id: must be the file's name without .json"];
    return {
      id,
      ok: false,
      problems,
      fixtures,
      payloads: [],
      transcripts: [],
      fields: [],
      lineFields: [],
      unproven: [],
    };
  }
  const problems = [...(ownProblems ?? []), ...problemsOf(agent.profile), ...codeProblems(agent)];
  const payloads = filesIn(join(fixtures, "payloads"), ".json").map((file) => checkPayload(agent, fixtures, file));
  const profiles = (await listAgents()).map((each) => each.profile);
  const recorded = filesIn(join(fixtures, "transcripts"), ".jsonl").map((file) => ({
    file,
    bytes: readFileSync(join(fixtures, "transcripts", file)),
  }));
  const transcripts = recorded.map(({ file, bytes }) =>
    checkTranscript(agent, file, bytes, agentOfTranscript(profiles, bytes) ?? null),
  );
  const seen = new Set(payloads.map((payload) => payload.event));
  const hooks = Object.keys(agent.profile.hooks?.install ?? {});
  const unproven = hooks.filter((native) => !seen.has(native));
  if (agent.profile.transcript?.lines && recorded.length === 0) unproven.push("transcript.lines");
  const clean = [...payloads, ...transcripts].every((check) => check.problems.length === 0);
  return {
    id,
    ok: problems.length === 0 && clean && (payloads.length > 0 || hooks.length === 0) && unproven.length === 0,
    problems: [...new Set(problems)],
    fixtures,
    payloads,
    transcripts,
    fields: fieldChecks(agent, payloads),
    lineFields: lineFieldChecks(
      agent.profile,
      recorded.map(({ bytes }) => bytes),
    ),
    unproven,
  };
}

/** What a profile promises and only code can do. */
function codeProblems({ profile, hookFile }: Agent): string[] {
  const settings = Object.entries(profile.hooks?.settings ?? {});
  return settings
    .filter(([, file]) => file.format === "own-file" && !hookFile)
    .map(([scope]) => `hooks.settings.${scope}: own-file needs an adapter that writes the file`);
}

/** Undefined where the user has no file for that agent. */
function problemsOfOwnFile(id: string): string[] | undefined {
  try {
    const value = readJson(join(userAgentsDirectory(), `${id}.json`));
    return value === undefined ? undefined : problemsOf(value);
  } catch (error) {
    return [`the file: ${messageOf(error)}`];
  }
}

function checkPayload(agent: Agent, fixtures: string, file: string): PayloadCheck {
  const raw = readPayload(readFileSync(join(fixtures, "payloads", file), "utf8"), []);
  const envelope = toEnvelope(agent.profile, file.split(".", 1)[0] ?? "", raw);
  const known = declaredFields(agent);
  const found = known.filter(([, paths]) => firstAt(raw, paths) !== undefined).map(([field]) => field);
  const check: PayloadCheck = {
    file,
    event: envelope.event,
    type: null,
    found,
    missing: known.map(([field]) => field).filter((field) => !found.includes(field)),
    problems: Object.keys(raw).length === 0 ? ["not a JSON object"] : [],
    example: file.endsWith(".example.json"),
  };
  try {
    const event = agent.toEvent(envelope, contextOf(agent.profile, envelope, { env: {}, cwd: fixtures }));
    check.type = event?.type ?? null;
  } catch (error) {
    check.problems.push(messageOf(error));
  }
  for (const field of neededFor(check.type)) {
    if (!found.includes(field)) check.problems.push(`${check.type} needs ${field}, which was not found`);
  }
  return check;
}

function neededFor(type: EventType | null): FieldName[] {
  return type === null ? [] : ["session_id", ...(NEEDED[type] ?? [])];
}

function fieldChecks(agent: Agent, payloads: PayloadCheck[]): FieldCheck[] {
  return declaredFields(agent).map(([field, paths]) => ({
    field,
    paths,
    found: payloads.filter((payload) => payload.found.includes(field)).length,
  }));
}

function declaredFields(agent: Agent): [FieldName, string[]][] {
  return Object.entries(agent.profile.hooks?.fields ?? {}) as [FieldName, string[]][];
}

function filesIn(directory: string, ending: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(ending))
      .sort();
  } catch {
    return [];
  }
}
