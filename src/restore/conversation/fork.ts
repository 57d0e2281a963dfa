/**
 * Forks the conversation of a step into a new session: truncates it at the step and writes it where the agent looks.
 */

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Agent } from "../../agents/contract/agent.ts";
import { getAgent } from "../../agents/registry/registry.ts";
import { transcriptDirectories } from "../../agents/registry/transcript-paths.ts";
import { forkOf } from "../../agents/shared/fork.ts";
import { codeOf } from "../../base/errors.ts";
import { makeDirectory, readJson, removeFile, writeAll, writeJson } from "../../base/fs/files.ts";
import { newSessionId, sessionKey } from "../../base/ids.ts";
import { isInside } from "../../base/paths.ts";
import type { Workspace } from "../../git/workspace.ts";
import { shownCommand } from "../../model/command.ts";
import { COMPACTION, type Step, TIMELINE_KINDS, type TranscriptPosition } from "../../model/step.ts";
import { loadSession } from "../../recording/session/store.ts";
import { readTail } from "../../recording/transcript-tail.ts";
import { readTranscript } from "../../steps/conversation/transcript.ts";
import { stepsIn } from "../../steps/log.ts";
import { place } from "../apply/move.ts";
import type { NoConversation } from "../notes.ts";
import { RestoreError } from "../problems.ts";
import type { ChatPlan, ChatReceipt } from "../types.ts";

const UNAVAILABLE: NoConversation = { kind: "no-transcript" };
const BEGINS_LATER: NoConversation = { kind: "begins-later" };

/** A fork that is ready to write. */
export interface Fork extends ChatReceipt {
  content: Uint8Array;
  /** Files the agent needs besides the transcript. */
  files: { path: string; content: Uint8Array }[];
  /** The directory that the fork's files must stay within. */
  root: string;
  /** True if it ends with the requested undo notice. */
  told: boolean;
}

export async function planChat(workspace: Workspace, step: Step): Promise<ChatPlan> {
  if (step.session === null || step.agent === null) return { kind: "none", reason: UNAVAILABLE };
  const agent = await getAgent(step.agent);
  if (!agent?.forker) {
    const why = agent?.profile.cannot?.rewind;
    const name = agent?.profile.display_name ?? step.agent;
    return { kind: "none", reason: { kind: "not-supported", agent: name, ...(why === undefined ? {} : { why }) } };
  }
  const position = positionOf(workspace, step, agent);
  if (!position) return { kind: "none", reason: hasTranscriptLater(workspace, step) ? BEGINS_LATER : UNAVAILABLE };
  if (position.offset === 0) return { kind: "none", reason: BEGINS_LATER };
  return { kind: "fork", agent: agent.profile.id, step };
}

/** The agent's native bytes of a step's whole conversation, or the reason they are unavailable. */
export async function conversationAt(
  workspace: Workspace,
  step: Step,
): Promise<{ agent: Agent; key: string; position: TranscriptPosition; bytes: Buffer } | NoConversation> {
  const agent = step.agent === null ? undefined : await getAgent(step.agent);
  const position = positionOf(workspace, step, agent);
  if (!agent || !position || step.session === null || step.agent === null) return UNAVAILABLE;
  const key = sessionKey(step.agent, step.session);
  const stored = await readTranscript(workspace, key, position.generation, position.offset);
  if (stored.length < position.offset) return UNAVAILABLE;
  return { agent, key, position, bytes: Buffer.concat([stored, lateEnd(workspace, agent, step, position)]) };
}

/** Plans a copy of a turn's whole conversation, to which an undo notice is appended. */
export async function planChatToTell(workspace: Workspace, turn: Step | undefined): Promise<ChatPlan> {
  if (!turn) return { kind: "none", reason: UNAVAILABLE };
  const { agent, session } = turn;
  const step = stepsIn(workspace).newest({ agent, session, hasTranscript: true, kinds: TIMELINE_KINDS });
  return step ? planChat(workspace, step) : { kind: "none", reason: UNAVAILABLE };
}

/** Returns the reason instead if there is no conversation before the step. */
export async function prepareFork(
  workspace: Workspace,
  step: Step,
  sessionId = newSessionId(),
  account: string | null = null,
): Promise<Fork | NoConversation> {
  const found = await conversationAt(workspace, step);
  if ("kind" in found) return found;
  const { agent, key, position, bytes } = found;
  if (!agent.forker) return UNAVAILABLE;
  const forked = forkOf(agent.forker, {
    bytes,
    lastId: agent.forker.branching ? position.lastId : null,
    transcriptPath: position.path,
    newSessionId: sessionId,
    projectRoot: workspace.root,
    title: titleOf(workspace, key, agent, bytes),
    account,
  });
  if (forked.content.length === 0) return BEGINS_LATER;
  const root = transcriptRoot(agent, position.path);
  const files = forked.files ?? [];
  // A conversation without a valid path does not hold up the files.
  const places = [forked.transcriptPath, ...files.map(({ path }) => path)];
  if (!places.every((path) => isWithin(root, path))) return { kind: "outside" };
  return {
    agent: agent.profile.id,
    session: forked.sessionId,
    transcript: forked.transcriptPath,
    ...shownCommand(forked.command ?? agent.forker.resumeCommand(forked.sessionId)),
    content: forked.content,
    files,
    root,
    told: forked.told === true,
  };
}

/** Writes the fork, keeping files that exist already. Consumes `staged`; writes the transcript last. */
export function writeFork(staged: string, root: string, path: string): void {
  if (!existsSync(staged)) return;
  const beside = readJson(stagedList(staged));
  for (const [index, file] of (Array.isArray(beside) ? beside : []).entries()) {
    if (typeof file === "string") putStaged(stagedBeside(staged, index), root, file);
  }
  putStaged(staged, root, path);
}

/** Writes the input of `writeFork` to disk: the transcript, the additional files, and the list of their paths. */
export function stageFork(staged: string, { content, files }: Pick<Fork, "content" | "files">): void {
  for (const [index, file] of files.entries()) stageContent(stagedBeside(staged, index), file.content);
  if (files.length > 0) {
    const paths = files.map(({ path }) => path);
    writeJson(stagedList(staged), paths, { sync: true });
  }
  stageContent(staged, content);
}

function putStaged(staged: string, root: string, path: string): void {
  if (!existsSync(staged)) return;
  // Checked before, so that no directory is created through a link, and after, when the whole path exists.
  requireInside(root, path);
  makeDirectory(dirname(path));
  requireInside(root, path);
  if (place(staged, path, `${path}.part`)) return;
  if (!readFileSync(path).equals(readFileSync(staged))) {
    throw new RestoreError("refused", { kind: "conversation-exists", path });
  }
  removeFile(staged);
}

function stagedList(staged: string): string {
  return `${staged}.files.json`;
}

function stagedBeside(staged: string, index: number): string {
  return `${staged}.${index}`;
}

function stageContent(path: string, content: Uint8Array): void {
  const fd = openSync(path, "wx", 0o600);
  try {
    writeAll(fd, content);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * The end of the step's conversation in the transcript. An agent may write a turn's last lines after reporting its
 * end: the next turn's start has the real end, unless it may be on another branch.
 */
export function positionOf(workspace: Workspace, step: Step, agent: Agent | undefined): TranscriptPosition | null {
  if (step.kind !== "turn-end" || !step.transcript || agent?.forker?.branching) return step.transcript;
  const { id, agent: name, session } = step;
  const next = stepsIn(workspace)
    .list({ after: id, agent: name, session })
    .findLast(({ kind, command }) => kind === "turn-start" || command === COMPACTION);
  const later = next?.transcript;
  return later && later.generation === step.transcript.generation && later.offset >= step.transcript.offset
    ? later
    : step.transcript;
}

/** The rest of the newest turn, if the agent wrote it after the step was recorded. */
function lateEnd(workspace: Workspace, agent: Agent, step: Step, position: TranscriptPosition): Buffer {
  const nothing = Buffer.alloc(0);
  if (step.kind !== "turn-end" || step.agent === null || step.session === null) return nothing;
  const state = loadSession(workspace, sessionKey(step.agent, step.session));
  const known = state?.transcript;
  if (!state || !known || state.turn !== step.turn || state.openTurn || known.generation !== position.generation)
    return nothing;
  if (known.path !== position.path || known.stored < position.offset) return nothing;
  try {
    if (readTail(known.path, known, known.stored, undefined)?.rewritten !== false) return nothing;
    const whole = readFileSync(known.path);
    const late = whole.subarray(position.offset, whole.lastIndexOf(10) + 1);
    const prompt = agent.analyzer?.read(late).entries.find(({ type }) => type === "prompt" || type === "compaction");
    return late.subarray(0, prompt?.start ?? late.length);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return nothing;
    throw error;
  }
}

function hasTranscriptLater(workspace: Workspace, { id, agent, session }: Step): boolean {
  return stepsIn(workspace).has({ after: id, agent, session, hasTranscript: true });
}

function titleOf(workspace: Workspace, key: string, agent: Agent, bytes: Buffer): string {
  const known = loadSession(workspace, key)?.title;
  if (known) return known;
  return agent.analyzer?.readSlice(bytes.subarray(0, 1 << 20), 0).prompts[0] ?? basename(workspace.root);
}

/**
 * The agent's transcript directory: the default; if that was moved, the directory of the same name above the original;
 * else the original's location.
 */
export function transcriptRoot(agent: Agent, original: string): string {
  const directory = agent.profile.transcript?.directory;
  const elsewhere = dirname(dirname(original));
  if (directory === undefined) return elsewhere;
  const usual = transcriptDirectories(agent.profile).find((place) => isInside(place, original));
  if (usual !== undefined) return usual;
  for (let above = dirname(original); dirname(above) !== above; above = dirname(above)) {
    if (basename(above) === basename(directory)) return above;
  }
  return elsewhere;
}

export function requireInside(root: string, path: string): void {
  if (!isWithin(root, path)) throw new RestoreError("refused", { kind: "conversation-outside" });
}

function isWithin(root: string, path: string): boolean {
  return isInside(root, path) && isInside(real(root), real(dirname(path)));
}

/** Resolves links in the part of the path that exists. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(real(above), basename(path));
  }
}
