/**
 * Implements `agents check <id>`: validates the profile against its schema, and replays recorded payloads through the
 * same code that hooks use. Prints nothing.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { messageOf, UserError } from "../../base/errors.ts";
import type { EventType } from "../../model/event.ts";
import type { Agent } from "../contract/agent.ts";
import { type FieldName, isProfile, type Profile } from "../contract/profile.ts";
import { problemsOf } from "../contract/schema.ts";
import { agentOfTranscript } from "../registry/detect.ts";
import { contextOf, toEnvelope } from "../registry/normalize.ts";
import { firstAt, sameName } from "../registry/paths.ts";
import { agentOfProfile, completeProfile, getAgent, listAgents, userAgentsDirectory } from "../registry/registry.ts";
import { mayRead } from "../registry/transcript-paths.ts";
import { type Payload, type Recording, readRecording } from "./capture/format.ts";
import { checkTranscript, type LineFieldCheck, lineFieldChecks, type TranscriptCheck } from "./check-transcript.ts";
import { hasNoPrompts, type Proof, proofsOf } from "./proofs.ts";

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
  /** What the recording proves of each thing that the profile promises. */
  proofs: Proof[];
}

export interface PayloadCheck {
  file: string;
  event: string;
  /** Null if the event is acknowledged and ignored. */
  type: EventType | null;
  /** The prompt that the event reports; null if it reports none. */
  prompt: string | null;
  sessionId: string | null;
  transcriptPath: string | null;
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

export interface CheckOptions {
  /** The directory with `payloads/` and `transcripts/`; those of a recording, or those beside the profile. */
  fixtures?: string | undefined;
}

/** `target` is an agent's id, or the path of a profile. */
export async function checkAgent(target: string, options: CheckOptions = {}): Promise<CheckReport> {
  const path = target.endsWith(".json") ? target : join(userAgentsDirectory(), `${target}.json`);
  const id = basename(path, ".json");
  const fixtures = options.fixtures ?? join(dirname(path), id);
  const { profile, problems: ownProblems } = await ownProfile(path);
  const agent = target.endsWith(".json") ? profile && (await agentOfProfile(profile)) : await getAgent(id);
  if (!agent) {
    if (ownProblems === undefined) {
      throw new UserError("not-found", `There is no agent "${target}".`, `Make one with: backtrail agents new ${id}`);
    }
    const problems = ownProblems.length > 0 ? ownProblems : ["id: must be the file's name without .json"];
    return { id, ok: false, problems, fixtures, ...NOTHING };
  }
  const problems = [...(ownProblems ?? []), ...problemsOf(agent.profile), ...codeProblems(agent)];
  if (!hasFixtures(fixtures)) {
    const { hooks, transcript } = agent.profile;
    // A profile that promises nothing that could be recorded lacks no recording.
    const isWhole = Object.keys(hooks?.install ?? {}).length === 0 && !transcript?.lines;
    return { id, ok: isWhole && problems.length === 0, problems: [...new Set(problems)], fixtures, ...NOTHING };
  }
  const recording = readRecording(fixtures);
  const payloads = recording.payloads.map((payload) => checkPayload(agent, recording, payload));
  const profiles = [
    ...(await listAgents()).map((each) => each.profile).filter((each) => each.id !== id),
    agent.profile,
  ];
  const format = `.${agent.profile.transcript?.format ?? "jsonl"}`;
  const recorded = recording.transcripts.filter(({ file }) => file.endsWith(format));
  const detected = recorded.map(({ bytes }) => agentOfTranscript(profiles, bytes) ?? null);
  const transcripts = recorded
    // A recording holds every file that grew: if there are several, only those that look like this agent's count.
    .map(({ file, bytes }, index) => checkTranscript(agent, file, bytes, detected[index] ?? null))
    .filter((_, index) => recording.cwd === null || recorded.length === 1 || detected[index] === id);
  const seen = [...new Set(payloads.map((payload) => payload.event))];
  const install = agent.profile.hooks?.install ?? {};
  const hooks = Object.keys(install);
  // As a hook does: by the agent's name for the event, however it is spelled, or by the verb.
  const unproven = hooks.filter(
    (native) => !seen.some((name) => sameName(name, native) || name === install[native]?.verb),
  );
  if (agent.profile.transcript?.lines && transcripts.length === 0) unproven.push("transcript.lines");
  const proofs = proofsOf(agent, { recording, payloads, transcripts, missing: unproven });
  const clean = [...payloads, ...transcripts].every((check) => check.problems.length === 0);
  const promptsProven = !proofs.some(({ what, state }) => what === "prompts" && state === "unproven");
  return {
    id,
    ok:
      problems.length === 0 &&
      clean &&
      (payloads.length > 0 || hooks.length === 0) &&
      unproven.length === 0 &&
      promptsProven,
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
    proofs,
  };
}

const NOTHING = { payloads: [], transcripts: [], fields: [], lineFields: [], unproven: [], proofs: [] };

function hasFixtures(directory: string): boolean {
  return existsSync(join(directory, "payloads")) || existsSync(join(directory, "transcripts"));
}

/** Reports features that the profile claims but that need an adapter. */
function codeProblems({ profile, hookFile }: Agent): string[] {
  const settings = Object.entries(profile.hooks?.settings ?? {});
  return settings
    .filter(([, file]) => file.format === "own-file" && !hookFile)
    .map(([scope]) => `hooks.settings.${scope}: own-file needs an adapter that writes the file`);
}

/** No problems if there is no such file. */
async function ownProfile(path: string): Promise<{ profile?: Profile; problems?: string[] }> {
  try {
    const value = await completeProfile(path);
    if (value === undefined) return {};
    return { ...(isProfile(value) ? { profile: value } : {}), problems: problemsOf(value) };
  } catch (error) {
    const message = messageOf(error);
    return { problems: [message.startsWith("like:") ? message : `the file: ${message}`] };
  }
}

function checkPayload(agent: Agent, { home, directory }: Recording, { file, event: verb, raw }: Payload): PayloadCheck {
  const envelope = toEnvelope(agent.profile, verb, raw);
  const known = declaredFields(agent);
  const found = known.filter(([, paths]) => firstAt(raw, paths) !== undefined).map(([field]) => field);
  const check: PayloadCheck = {
    file,
    event: envelope.event,
    type: null,
    prompt: null,
    sessionId: null,
    transcriptPath: null,
    found,
    missing: known.map(([field]) => field).filter((field) => !found.includes(field)),
    problems: Object.keys(raw).length === 0 ? ["not a JSON object"] : [],
    example: file.endsWith(".example.json"),
  };
  try {
    const inputs = { env: {}, cwd: directory, ...(home === null ? {} : { mayRead: readableIn(agent.profile, home) }) };
    const event = agent.toEvent(envelope, contextOf(agent.profile, envelope, inputs));
    check.type = event?.type ?? null;
    check.prompt = event?.prompt ?? null;
    check.sessionId = event?.sessionId ?? null;
    check.transcriptPath = event?.transcriptPath ?? null;
    const named = envelope.transcriptPath;
    if (event && agent.profile.transcript && named !== null && home !== null && check.transcriptPath === null) {
      check.problems.push(`${named} is outside transcript.directory, so it would not be read`);
    }
  } catch (error) {
    check.problems.push(messageOf(error));
  }
  for (const field of neededFor(check.type, agent)) {
    if (!found.includes(field)) check.problems.push(`${check.type} needs ${field}, which was not found`);
  }
  return check;
}

/** The rule that a hook follows, with the home directory of the recording. */
function readableIn(profile: Profile, home: string): (path: string) => boolean {
  return (path) => mayRead(path, { profiles: [profile], storeDir: "/", more: [] }, { HOME: home });
}

/** If prompts are read from the conversation instead, the profile needs no field for them. */
function neededFor(type: EventType | null, agent: Agent): FieldName[] {
  if (type === null) return [];
  const { profile, analyzer } = agent;
  const isInConversation = analyzer !== undefined && profile.hooks?.fields.prompt === undefined;
  const needed = NEEDED[type] ?? [];
  return ["session_id", ...needed.filter((field) => field !== "prompt" || !(isInConversation || hasNoPrompts(agent)))];
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
