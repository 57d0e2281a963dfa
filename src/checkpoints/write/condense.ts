/**
 * Turns a recorded session into the contents of a checkpoint: the conversation in chunks, prompts, tokens, files, tasks
 * of subagents, and our own record of the steps. Everything written here is redacted.
 */

import { isAbsolute, relative } from "node:path";
import { getAgent } from "../../agents/registry/registry.ts";
import { logError } from "../../base/log.ts";
import { homeDirectory, isInside } from "../../base/paths.ts";
import { version } from "../../base/version.ts";
import type { ObjectStore } from "../../git/objects/object-store.ts";
import type { Workspace } from "../../git/workspace.ts";
import { changedPaths } from "../../model/changes.ts";
import type { Step } from "../../model/step.ts";
import { addTokens, NO_TOKENS, type Tokens, tokensBetween } from "../../model/tokens.ts";
import { readTranscript } from "../../steps/conversation/transcript.ts";
import { stepsIn } from "../../steps/log.ts";
import { chunkName, splitLines } from "../../transcripts/chunks.ts";
import { checkpointHome, whileObjectsStay } from "../branch/location.ts";
import {
  BACKTRAIL_FILE,
  type BacktrailRecord,
  CONTENT_HASH_FILE,
  CONTEXT_FILE,
  layoutJson,
  PROMPT_FILE,
  PROMPT_SEPARATOR,
  type SessionMetadata,
  safeName,
  TASK_FILE,
  TASK_RECORD_FILE,
  type TaskCheckpoint,
  type TaskRecord,
  type TokenUsage,
  TRANSCRIPT_FILE,
  UNKNOWN_AGENT,
} from "../format/layout.ts";
import { attributeCommit, attributionOf, type CommitAttribution, initialAttribution } from "./attribution.ts";
import type { QueuedCheckpoint, QueuedSession } from "./queue.ts";
import { openRedaction, type Redaction, redactSession } from "./redaction.ts";
import { fitting, joint, storeChunks } from "./transcript-chunks.ts";
import { openObjects, type SessionFiles, writeCheckpoint } from "./write.ts";

interface Condensing {
  workspace: Workspace;
  objects: ObjectStore;
  redaction: Redaction;
  entry: QueuedCheckpoint;
  attribution: CommitAttribution | null;
}

export async function condense(workspace: Workspace, entry: QueuedCheckpoint): Promise<void> {
  const home = checkpointHome(workspace);
  await whileObjectsStay(home, () => condenseInto(home, workspace, entry));
}

async function condenseInto(home: Workspace, workspace: Workspace, entry: QueuedCheckpoint): Promise<void> {
  using objects = openObjects(home);
  const redaction = await openRedaction(workspace);
  const work: Condensing = { workspace, objects, redaction, entry, attribution: await attributed(workspace, entry) };
  const sessions: SessionFiles[] = [];
  for (const session of inOrderOfTime(workspace, entry.sessions)) sessions.push(await sessionFiles(work, session));
  await writeCheckpoint(home, objects, entry.checkpoint, sessions);
}

/** Sorts by last activity: readers take the last session for the newest. */
function inOrderOfTime(workspace: Workspace, sessions: readonly QueuedSession[]): QueuedSession[] {
  const timed = sessions.map((session) => ({ session, time: stepsUntil(workspace, session).at(-1)?.time ?? "" }));
  return timed.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0)).map(({ session }) => session);
}

/** Returns null for a commit that no longer exists (a deleted branch, pruned history). */
async function attributed(workspace: Workspace, { commit }: QueuedCheckpoint): Promise<CommitAttribution | null> {
  try {
    return await attributeCommit(workspace, commit);
  } catch (error) {
    logError("attribution", error);
    return null;
  }
}

async function sessionFiles(work: Condensing, session: QueuedSession): Promise<SessionFiles> {
  const all = stepsUntil(work.workspace, session);
  const names = [...session.files, ...all.flatMap(({ files }) => changedPaths(files))];
  return redactSession(work.redaction, names, (redaction) => redactedFiles({ ...work, redaction }, session, all));
}

async function redactedFiles(work: Condensing, session: QueuedSession, all: readonly Step[]): Promise<SessionFiles> {
  const { workspace, objects, redaction } = work;
  const steps = all.filter(({ turn }) => turn > session.since.turn);
  const blob = (text: string) => objects.writer.add("blob", Buffer.from(text));
  const chunks = await storeChunks(workspace, objects, redaction, session.key, session.since, session.until);
  const files = new Map<string, string>();
  for (const [i, id] of chunks.ids.entries()) files.set(chunkName(TRANSCRIPT_FILE, i), id);
  files.set(CONTENT_HASH_FILE, blob(chunks.hash));
  const prompts = promptsOf(steps).map((prompt) => redaction.text(prompt));
  files.set(PROMPT_FILE, blob(prompts.join(PROMPT_SEPARATOR)));
  files.set(CONTEXT_FILE, blob(redaction.text(contextOf(steps))));
  files.set(BACKTRAIL_FILE, blob(layoutJson(recordOf(work, session, steps))));
  return {
    metadata: await metadataOf(work, session, steps, chunks.linesBefore),
    files,
    tasks: await tasksOf(work, session, steps),
  };
}

async function metadataOf(
  { entry, attribution, redaction }: Condensing,
  session: QueuedSession,
  steps: readonly Step[],
  linesBefore: number,
): Promise<SessionMetadata> {
  const turns = steps.filter((step) => step.kind === "turn-end");
  const agent = await getAgent(session.agent);
  const name = agent?.profile.display_name ?? UNKNOWN_AGENT;
  const first = steps.find((step) => step.kind === "turn-start") ?? steps[0];
  const before = session.since.offset > 0 ? (first?.transcript?.lastId ?? null) : null;
  const usage = usageOf(steps);
  const path = belowHome(session.transcriptPath);
  return {
    cli_version: version,
    checkpoint_id: entry.checkpoint,
    session_id: session.id,
    strategy: entry.strategy,
    created_at: entry.time,
    ...(entry.branch === null ? {} : { branch: redaction.name(entry.branch) }),
    checkpoints_count: Math.max(1, turns.length),
    ...(turns.length > 0 ? { save_step_count: turns.length } : {}),
    files_touched: session.files.map(redaction.name),
    agent: name,
    model: session.model ?? "",
    ...(first ? { turn_id: steps.findLast((step) => step.kind === "turn-start")?.id ?? first.id } : {}),
    ...(before === null ? {} : { transcript_identifier_at_start: before }),
    checkpoint_transcript_start: linesBefore,
    transcript_lines_at_start: linesBefore,
    ...(usage ? { token_usage: usage } : {}),
    ...(attribution ? { initial_attribution: initialAttribution(attribution, entry.time) } : {}),
    ...(path === undefined ? {} : { transcript_path: redaction.name(path) }),
  };
}

/** Returns the steps of this checkpoint's turns and of all earlier ones, oldest first. */
function stepsUntil(workspace: Workspace, { id, until }: QueuedSession): Step[] {
  return stepsIn(workspace)
    .oldestFirst({ session: id })
    .filter(({ turn }) => turn <= until.turn);
}

/** Returns one prompt per turn; if a turn has no start, its end has the prompt. */
function promptsOf(steps: readonly Step[]): string[] {
  const prompts = new Map<number, string>();
  for (const { kind, turn, prompt } of steps) {
    if (prompt !== null && (kind === "turn-start" || (kind === "turn-end" && !prompts.has(turn))))
      prompts.set(turn, prompt);
  }
  return [...prompts.values()];
}

function contextOf(steps: readonly Step[]): string {
  const parts = ["# Session context", ""];
  const prompts = new Map(steps.filter(({ prompt }) => prompt !== null).map(({ turn, prompt }) => [turn, prompt]));
  for (const [turn, prompt] of prompts) {
    const end = steps.findLast((step) => step.turn === turn && step.kind === "turn-end");
    parts.push(`## Prompt ${turn}`, "", prompt ?? "", "");
    if (end?.response) parts.push("### Answer", "", end.response, "");
  }
  return parts.join("\n");
}

function recordOf(
  { redaction, attribution }: Condensing,
  session: QueuedSession,
  steps: readonly Step[],
): BacktrailRecord {
  return {
    v: 1,
    session: session.id,
    agent: session.agent,
    steps: steps.map(({ id, kind, turn, time, prompt, response, files, ...step }) => ({
      id,
      kind,
      turn,
      time,
      prompt: prompt === null ? null : redaction.text(prompt),
      response: response === null ? null : redaction.text(response),
      files: changedPaths(files).sort().map(redaction.name),
      ...(kind === "turn-end" ? usageOfTurn(step) : {}),
    })),
    attribution: attribution
      ? attributionOf(attribution, { agent: session.agent, session: session.id }).map((file) => ({
          ...file,
          path: redaction.name(file.path),
        }))
      : [],
  };
}

function usageOfTurn({ model, tokens, apiCalls, usd }: Pick<Step, "model" | "tokens" | "apiCalls" | "usd">) {
  return {
    ...(model === null ? {} : { model }),
    ...(tokens === null ? {} : { tokens }),
    ...(apiCalls === undefined ? {} : { apiCalls }),
    ...(usd === undefined ? {} : { usd }),
  };
}

/** A turn's tokens include those of its subagents; the format keeps them separate. */
function usageOf(steps: readonly Step[]): TokenUsage | undefined {
  const turns = steps.filter((step) => step.tokens && step.kind === "turn-end");
  if (turns.length === 0) return undefined;
  const tasks = steps.filter((step) => step.tokens && step.kind === "task" && step.subagent?.when === "end");
  const below = tokensIn(tasks);
  const own = tokensBetween(below, tokensIn(turns));
  return {
    ...inFormat(own, apiCallsIn(turns)),
    ...(tasks.length > 0 ? { subagent_tokens: inFormat(below, apiCallsIn(tasks)) } : {}),
  };
}

function tokensIn(steps: readonly Step[]): Tokens {
  return steps.reduce((sum, { tokens }) => (tokens ? addTokens(sum, tokens) : sum), { ...NO_TOKENS });
}

function apiCallsIn(steps: readonly Step[]): number {
  return steps.reduce((sum, { apiCalls }) => sum + (apiCalls ?? 0), 0);
}

function inFormat({ input, output, cacheRead, cacheWrite }: Tokens, apiCalls: number): TokenUsage {
  return {
    input_tokens: input,
    cache_creation_tokens: cacheWrite,
    cache_read_tokens: cacheRead,
    output_tokens: output,
    api_call_count: apiCalls,
  };
}

async function tasksOf(
  { workspace, objects: { writer }, redaction }: Condensing,
  session: QueuedSession,
  steps: readonly Step[],
): Promise<Map<string, string>> {
  const tasks = new Map<string, string>();
  for (const step of steps) {
    if (step.kind !== "task" || step.subagent?.when !== "end") continue;
    const toolUseId = step.toolUseId ?? step.id;
    const directory = safeName(toolUseId);
    const record: TaskCheckpoint = {
      session_id: session.id,
      tool_use_id: toolUseId,
      checkpoint_uuid: step.transcript?.lastId ?? step.id,
      agent_id: step.subagent.id,
    };
    const blob = (value: object) => writer.add("blob", Buffer.from(layoutJson(value)));
    tasks.set(`${directory}/${TASK_FILE}`, blob(record));
    const said = await readTranscript(workspace, session.key, 0, Number.MAX_SAFE_INTEGER, `tasks/${step.id}`);
    tasks.set(`${directory}/${TASK_RECORD_FILE}`, blob(taskRecord(redaction, steps, step, directory, said.length > 0)));
    const file = `${directory}/agent-${safeName(step.subagent.id)}.jsonl`;
    const pieces = splitLines(said);
    for (const [i, piece] of pieces.entries()) {
      const data = joint(fitting(redaction.transcript(piece)), i === pieces.length - 1, piece);
      tasks.set(chunkName(file, i), writer.add("blob", data));
    }
  }
  return tasks;
}

function taskRecord(
  redaction: Redaction,
  steps: readonly Step[],
  end: Step,
  name: string,
  hasConversation: boolean,
): TaskRecord {
  const began = steps.find(({ subagent }) => subagent?.when === "start" && subagent.id === end.subagent?.id);
  const { type, description } = end.subagent ?? {};
  const files = changedPaths(end.files).sort().map(redaction.name);
  return {
    tool_use_id: name,
    agent_id: safeName(end.subagent?.id ?? ""),
    ...(type ? { subagent_type: redaction.text(type) } : {}),
    ...(description ? { task_description: redaction.text(description) } : {}),
    ...(files.length > 0 ? { files } : {}),
    ...(end.tokens ? { token_usage: inFormat(end.tokens, end.apiCalls ?? 0) } : {}),
    ...(began ? { started_at: began.time } : {}),
    completed_at: end.time,
    ...(hasConversation ? {} : { transcript_unavailable_reason: "transcript empty" }),
  };
}

function belowHome(path: string | null): string | undefined {
  const home = homeDirectory();
  if (path === null || !isAbsolute(path) || !isInside(home, path)) return undefined;
  return relative(home, path);
}
