/**
 * Implements `agents check <id>`: validates the profile against its schema, and replays recorded payloads through the
 * same code that hooks use. Prints nothing.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf, UserError } from "../../base/errors.ts";
import { readJson } from "../../base/fs/files.ts";
import type { EventType } from "../../model/event.ts";
import type { Agent } from "../contract/agent.ts";
import type { FieldName } from "../contract/profile.ts";
import { problemsOf } from "../contract/schema.ts";
import { agentOfTranscript } from "../registry/detect.ts";
import { contextOf, readPayload, toEnvelope } from "../registry/normalize.ts";
import { firstAt, sameName } from "../registry/paths.ts";
import { getAgent, listAgents, userAgentsDirectory } from "../registry/registry.ts";
import { checkTranscript, type LineFieldCheck, lineFieldChecks, type TranscriptCheck } from "./check-transcript.ts";

export interface CheckReport {
  id: string;
  ok: boolean;
  /** Problems of the profile itself. */
  problems: string[];
  /** The fixture directory. */
  fixtures: string;
  payloads: PayloadCheck[];
  transcripts: TranscriptCheck[];
  /** Every canonical field with a path in the profile, and the number of payloads that contain it. */
  fields: FieldCheck[];
  /** The same for the paths of `transcript.lines`. */
  lineFields: LineFieldCheck[];
  /** Hooks to install without a recorded payload; and transcript lines without a recorded transcript. */
  unproven: string[];
}

interface PayloadCheck {
  file: string;
  event: string;
  /** Null if the event is acknowledged and ignored. */
  type: EventType | null;
  found: FieldName[];
  missing: FieldName[];
  problems: string[];
  /** The scaffold wrote this payload, not the agent. */
  example: boolean;
}

interface FieldCheck {
  field: FieldName;
  paths: string[];
  found: number;
}

/** The fields that an event of each type requires. */
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
  const format = `.${agent.profile.transcript?.format ?? "jsonl"}`;
  const recorded = filesIn(join(fixtures, "transcripts"), format).map((file) => ({
    file,
    bytes: readFileSync(join(fixtures, "transcripts", file)),
  }));
  const transcripts = recorded.map(({ file, bytes }) =>
    checkTranscript(agent, file, bytes, agentOfTranscript(profiles, bytes) ?? null),
  );
  const seen = [...new Set(payloads.map((payload) => payload.event))];
  const install = agent.profile.hooks?.install ?? {};
  const hooks = Object.keys(install);
  // As a hook does: by the agent's name for the event, however it is spelled, or by the verb.
  const unproven = hooks.filter(
    (native) => !seen.some((name) => sameName(name, native) || name === install[native]?.verb),
  );
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

/** Reports features that the profile claims but that need an adapter. */
function codeProblems({ profile, hookFile }: Agent): string[] {
  const settings = Object.entries(profile.hooks?.settings ?? {});
  return settings
    .filter(([, file]) => file.format === "own-file" && !hookFile)
    .map(([scope]) => `hooks.settings.${scope}: own-file needs an adapter that writes the file`);
}

/** Undefined if the user has no profile for that agent. */
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
  for (const field of neededFor(check.type, agent)) {
    if (!found.includes(field)) check.problems.push(`${check.type} needs ${field}, which was not found`);
  }
  return check;
}

/** A prompt may be told by the conversation alone; then the profile names no field for it. */
function neededFor(type: EventType | null, { profile, analyzer }: Agent): FieldName[] {
  if (type === null) return [];
  const isInConversation = analyzer !== undefined && profile.hooks?.fields.prompt === undefined;
  const needed = NEEDED[type] ?? [];
  return ["session_id", ...needed.filter((field) => field !== "prompt" || !isInConversation)];
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
