/** The conversation of a step as a new session of its agent: cut there, put where the agent looks for it. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Agent } from "../agents/agent.ts";
import { forkOf } from "../agents/fork.ts";
import { getAgent } from "../agents/registry.ts";
import { codeOf, UserError } from "../base/errors.ts";
import { makeDirectory, readJson, removeFile, writeAll, writeJson } from "../base/files.ts";
import { newSessionId, sessionKey } from "../base/ids.ts";
import { isInside } from "../base/paths.ts";
import type { Workspace } from "../git/workspace.ts";
import { loadSession } from "../lifecycle/session-state.ts";
import { readTail } from "../lifecycle/transcript-tail.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import { COMPACTION, type Step, type TranscriptPosition } from "../steps/model.ts";
import { readTranscript } from "../steps/transcript.ts";
import type { ChatPlan, ChatReceipt } from "./model.ts";
import { place } from "./move.ts";

const UNAVAILABLE = "Chat rewind unavailable (no transcript found)";
const BEGINS_LATER = "The conversation begins after this step: start a new session.";

/** A fork that is ready to be written. */
export interface Fork extends ChatReceipt {
  content: Uint8Array;
  /** What the agent needs beside the transcript. */
  files: { path: string; content: Uint8Array }[];
  /** The directory that it must not leave. */
  root: string;
  /** It ends with the account that was asked for. */
  told: boolean;
}

export async function planChat(workspace: Workspace, step: Step): Promise<ChatPlan> {
  if (step.session === null || step.agent === null) return { kind: "none", why: UNAVAILABLE };
  const agent = await getAgent(step.agent);
  if (!agent?.forker)
    return {
      kind: "none",
      why: `Chat rewind unavailable (not known how for ${agent?.profile.display_name ?? step.agent})`,
    };
  const position = positionOf(workspace, step, agent);
  if (!position) return { kind: "none", why: hasTranscriptLater(workspace, step) ? BEGINS_LATER : UNAVAILABLE };
  if (position.offset === 0) return { kind: "none", why: BEGINS_LATER };
  return { kind: "fork", agent: agent.profile.id, step };
}

/** The native bytes of a step's conversation, whole; why not, where they can't be had. */
export async function conversationAt(
  workspace: Workspace,
  step: Step,
): Promise<{ agent: Agent; key: string; position: TranscriptPosition; bytes: Buffer } | string> {
  const agent = step.agent === null ? undefined : await getAgent(step.agent);
  const position = positionOf(workspace, step, agent);
  if (!agent || !position || step.session === null || step.agent === null) return UNAVAILABLE;
  const key = sessionKey(step.agent, step.session);
  const stored = await readTranscript(workspace, key, position.generation, position.offset);
  if (stored.length < position.offset) return UNAVAILABLE;
  return { agent, key, position, bytes: Buffer.concat([stored, lateEnd(workspace, agent, step, position)]) };
}

/** The whole conversation that a turn belongs to, to be told what became of it. */
export async function planChatToTell(workspace: Workspace, turn: Step | undefined): Promise<ChatPlan> {
  for (const step of stepsNewestFirst(workspace)) {
    if (step.agent === turn?.agent && step.session === turn?.session && step.transcript && step.kind !== "safety")
      return planChat(workspace, step);
  }
  return { kind: "none", why: UNAVAILABLE };
}

/** A sentence where there is nothing of the conversation before the step. */
export async function prepareFork(
  workspace: Workspace,
  step: Step,
  sessionId = newSessionId(),
  account: string | null = null,
): Promise<Fork | string> {
  const found = await conversationAt(workspace, step);
  if (typeof found === "string") return found;
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
  // The files don't wait for a conversation that has no place.
  const places = [forked.transcriptPath, ...files.map(({ path }) => path)];
  if (!places.every((path) => isWithin(root, path))) return OUTSIDE;
  return {
    agent: agent.profile.id,
    session: forked.sessionId,
    transcript: forked.transcriptPath,
    command: forked.command ?? agent.forker.resumeCommand(forked.sessionId),
    content: forked.content,
    files,
    root,
    told: forked.told === true,
  };
}

/** Puts the fork in place; one that is there already stays. `staged` is consumed, the transcript last. */
export function writeFork(staged: string, root: string, path: string): void {
  if (!existsSync(staged)) return;
  const beside = readJson(stagedList(staged));
  for (const [index, file] of (Array.isArray(beside) ? beside : []).entries()) {
    if (typeof file === "string") putStaged(stagedBeside(staged, index), root, file);
  }
  putStaged(staged, root, path);
}

/** What `writeFork` needs, on disk: the transcript, the files beside it, and the list of where those belong. */
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
  // Before, so that no directory is made through a link; after, since only now all of it is there.
  requireInside(root, path);
  makeDirectory(dirname(path));
  requireInside(root, path);
  if (place(staged, path, `${path}.part`)) return;
  if (!readFileSync(path).equals(readFileSync(staged))) {
    throw new UserError("refused", `${path} is there already and was left as it is.`);
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
 * Where in the transcript the step's conversation ends. A turn's last lines may be written after its end was told:
 * the next turn's start knows where it really ended, unless that may be on another branch.
 */
function positionOf(workspace: Workspace, step: Step, agent: Agent | undefined): TranscriptPosition | null {
  if (step.kind !== "turn-end" || !step.transcript || agent?.forker?.branching) return step.transcript;
  let next: Step | undefined;
  for (const other of stepsNewestFirst(workspace)) {
    if (other.id === step.id) break;
    if (other.session !== step.session || other.agent !== step.agent) continue;
    if (other.kind === "turn-start" || other.command === COMPACTION) next = other;
  }
  const later = next?.transcript;
  return later && later.generation === step.transcript.generation && later.offset >= step.transcript.offset
    ? later
    : step.transcript;
}

/** The rest of the newest turn, where the agent wrote it after the step was taken. */
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
    const prompt = agent.analyser?.read(late).entries.find(({ type }) => type === "prompt" || type === "compaction");
    return late.subarray(0, prompt?.start ?? late.length);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return nothing;
    throw error;
  }
}

function hasTranscriptLater(workspace: Workspace, step: Step): boolean {
  for (const other of stepsNewestFirst(workspace)) {
    if (other.id === step.id) return false;
    if (other.session === step.session && other.agent === step.agent && other.transcript) return true;
  }
  return false;
}

function titleOf(workspace: Workspace, key: string, agent: Agent, bytes: Buffer): string {
  const known = loadSession(workspace, key)?.title;
  if (known) return known;
  return agent.analyser?.readStretch(bytes.subarray(0, 1 << 20), 0).prompts[0] ?? basename(workspace.root);
}

/**
 * Where the agent keeps its transcripts: its usual place; where that was moved, the directory of the same name above
 * the original; or wherever the original turned out to be.
 */
export function transcriptRoot(agent: Agent, original: string): string {
  const directory = agent.profile.transcript?.directory;
  const elsewhere = dirname(dirname(original));
  if (directory === undefined) return elsewhere;
  const usual = join(process.env["HOME"] || homedir(), directory);
  if (isInside(usual, original)) return usual;
  for (let above = dirname(original); dirname(above) !== above; above = dirname(above)) {
    if (basename(above) === basename(directory)) return above;
  }
  return elsewhere;
}

export function requireInside(root: string, path: string): void {
  if (!isWithin(root, path)) throw new UserError("refused", OUTSIDE);
}

function isWithin(root: string, path: string): boolean {
  return isInside(root, path) && isInside(real(root), real(dirname(path)));
}

const OUTSIDE = "The conversation's copy would lie outside of where the agent keeps its conversations.";

/** Without links, as far as it exists. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(real(above), basename(path));
  }
}
