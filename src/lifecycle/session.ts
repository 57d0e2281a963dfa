/**
 * A session while one event is handled: its state, changed step by step, and the steps that come out of it. It
 * decides nothing about when; the dispatcher does.
 */
import type { Agent } from "../agents/agent.ts";
import type { Event, SubagentRef } from "../agents/event.ts";
import { newStepId } from "../base/ids.ts";
import { logError } from "../base/log.ts";
import { printable, shorten } from "../base/text.ts";
import type { Capture, Snapshot } from "../git/snapshot.ts";
import { compareTrees } from "../git/tree-diff.ts";
import type { Workspace } from "../git/workspace.ts";
import { changesBetween } from "../steps/diff.ts";
import type { Step, StepKind } from "../steps/model.ts";
import { type SaveRequest, snapshotOf } from "../steps/save.ts";
import {
  addTokens,
  type FileChanges,
  NO_TOKENS,
  type Tokens,
  type TranscriptStretch,
  tokensBetween,
} from "../transcripts/model.ts";
import { ownChanges, relativePaths } from "./claims.ts";
import { keyOf, type SessionState, type StoredTranscript, stateFile } from "./session-state.ts";
import { readTail, readWhole, segmentsOf, type Tail } from "./transcript-tail.ts";

const PROMPT_LENGTH = 4_000;
const RESPONSE_LENGTH = 1_000;
const COMMAND_LENGTH = 500;
const TASK_TRANSCRIPT_LIMIT = 64 << 20;

export interface SessionParts {
  workspace: Workspace;
  agent: Agent;
  state: SessionState;
  time: string;
  /** The entry that the conversation stands at, where the agent tells: it may have left the newest one's branch. */
  leaf?: string | undefined;
}

export class Session {
  readonly state: SessionState;
  readonly #workspace: Workspace;
  readonly #agent: Agent;
  readonly #time: string;
  readonly #leaf: string | undefined;
  readonly #requests: Omit<SaveRequest, "key" | "alongside">[] = [];
  #tail: Tail | undefined;
  #tailRead = false;

  constructor({ workspace, agent, state, time, leaf }: SessionParts) {
    this.#workspace = workspace;
    this.#agent = agent;
    this.state = state;
    this.#time = time;
    this.#leaf = leaf;
  }

  get hasSteps(): boolean {
    return this.#requests.length > 0;
  }

  /** Everything to be saved, the session's new state with the last of it. */
  saveRequests(): SaveRequest[] {
    const key = keyOf(this.state);
    const path = stateFile(this.#workspace, key);
    return this.#requests.map((request, i) => ({
      ...request,
      key,
      alongside: i === this.#requests.length - 1 ? { path, revision: this.state.revision, content: this.state } : null,
    }));
  }

  beginTurn(event: Event, snapshot: Snapshot | null, takeStep: boolean): void {
    const { state } = this;
    const tail = this.tail();
    state.turn++;
    state.phase = "ACTIVE";
    // What was asked for and never started (refused, cut off) must not lend its words to another one.
    state.announcedTasks = [];
    const prompt = promptOf(event);
    state.title ??= shortened(event.prompt, 200);
    const startStep = snapshot && takeStep ? this.#add("turn-start", snapshot, { prompt }).id : null;
    state.openTurn = {
      startStep,
      work: snapshot?.work ?? null,
      prompt,
      promptId: event.metadata["prompt_id"] ?? null,
      startedAt: this.#time,
      offset: tail?.stored.stored ?? state.transcript?.stored ?? 0,
      taskTokens: { ...NO_TOKENS },
      taskFiles: [],
    };
  }

  /** A turn that nobody announced, known by its prompt when a step is taken in it: that step must not swallow it. */
  noticeTurn(): void {
    const { state } = this;
    const prompt = this.tail()?.stretch?.prompts.at(-1);
    if (state.openTurn || state.phase !== "IDLE" || prompt === undefined) return;
    const { lastStep } = state;
    state.turn++;
    state.phase = "ACTIVE";
    state.title ??= shortened(prompt, 200);
    state.openTurn = {
      startStep: lastStep?.id ?? null,
      work: lastStep?.work ?? null,
      prompt: shortened(prompt, PROMPT_LENGTH),
      promptId: null,
      startedAt: lastStep?.time ?? this.#time,
      offset: state.transcript?.stored ?? 0,
      taskTokens: { ...NO_TOKENS },
      taskFiles: [],
    };
  }

  /** Closes the open turn, or one whose beginning was never seen. */
  async endTurn(capture: Capture, snapshot: Snapshot, event: Event | null, interrupted: boolean): Promise<void> {
    const { state } = this;
    const turn = state.openTurn;
    const tail = this.tail();
    const said = tail?.stretch ?? null;
    if (!turn && !this.#somethingHappened(snapshot, tail)) return;
    if (!turn && (state.turn === 0 || (said?.prompts.length ?? 0) > 0)) state.turn++;
    const prompt = turn?.prompt ?? shortened(said?.prompts.at(-1) ?? null, PROMPT_LENGTH);
    state.title ??= shortened(prompt, 200);
    const own = new Set([
      ...relativePaths(this.#workspace.root, state.cwd, said?.files ?? []),
      ...(turn?.taskFiles ?? []),
    ]);
    const before = turn?.work ?? state.lastStep?.work ?? snapshot.index;
    const changes = changesBetween(await compareTrees(capture.trees, before, snapshot.work));
    const since = turn?.startedAt ?? state.lastStep?.time ?? this.#time;
    this.#add("turn-end", snapshot, {
      prompt,
      files: await ownChanges(this.#workspace, state, since, changes, own),
      tokens: this.#tokensOf(event, said, turn?.taskTokens ?? NO_TOKENS),
      model: said?.model ?? event?.model ?? state.model,
      response: shortened(event?.response ?? said?.lastAnswer ?? null, RESPONSE_LENGTH),
      interrupted: interrupted || (said?.interrupted ?? false),
    });
    state.openTurn = null;
    if (state.phase !== "ENDED") state.phase = "IDLE";
  }

  /** What came after the last turn: a prompt that was never announced, words written late, edits of the user's. */
  async endSession(capture: Capture, snapshot: Snapshot): Promise<void> {
    if ((this.tail()?.stretch?.prompts.length ?? 0) > 0) await this.endTurn(capture, snapshot, null, false);
    else if (this.state.lastStep && this.#somethingHappened(snapshot, this.tail()))
      await this.addPlain("baseline", capture, snapshot);
  }

  /** A step inside a turn: before a command, after a tool, at a compaction, at a session's start. */
  async addPlain(kind: StepKind, capture: Capture, snapshot: Snapshot, details: Partial<Step> = {}): Promise<Step> {
    const since = this.state.openTurn?.work ?? this.state.lastStep?.work ?? snapshot.work;
    const files = changesBetween(await compareTrees(capture.trees, since, snapshot.work));
    return this.#add(kind, snapshot, { files, prompt: this.state.openTurn?.prompt ?? null, ...details });
  }

  beginTask(subagent: SubagentRef, snapshot: Snapshot): void {
    const { state } = this;
    const announced = takeAnnounced(state, subagent);
    for (const task of state.openTasks) task.shared = true;
    const description = subagent.description ?? announced?.description ?? null;
    const prompt = shortened(subagent.prompt ?? announced?.prompt ?? null, PROMPT_LENGTH);
    const toolUseId = subagent.toolUseId ?? announced?.toolUseId ?? null;
    state.openTasks.push({
      id: subagent.id,
      type: subagent.type,
      description,
      prompt,
      toolUseId,
      work: snapshot.work,
      startStep: this.#turnStep(),
      startedAt: this.#time,
      shared: state.openTasks.length > 0,
    });
    const taken = { id: subagent.id, type: subagent.type, description, when: "start" as const };
    this.#add("task", snapshot, { prompt, toolUseId, subagent: taken, parent: this.#turnStep() });
  }

  /** A subagent's end, or a point on its way (`when`). */
  async addTask(capture: Capture, snapshot: Snapshot, subagent: SubagentRef, when: "progress" | "end"): Promise<void> {
    const { state } = this;
    const open = state.openTasks.find((task) => task.id === subagent.id);
    const path = subagent.transcriptPath;
    const transcript = path === null ? undefined : ifReadable(() => readWhole(path, TASK_TRANSCRIPT_LIMIT));
    const said = transcript && this.#agent.analyser ? this.#agent.analyser.readStretch(transcript, 0) : null;
    const own = new Set(relativePaths(this.#workspace.root, state.cwd, said?.files ?? []));
    const before = open?.work ?? state.openTurn?.work ?? snapshot.work;
    const changes = changesBetween(await compareTrees(capture.trees, before, snapshot.work));
    const files = open && !open.shared ? changes : only(changes, own);
    const prompt = shortened(open?.prompt ?? subagent.prompt ?? said?.prompts[0] ?? null, PROMPT_LENGTH);
    const step = this.#add("task", snapshot, {
      prompt,
      files,
      tokens: said?.tokens ?? null,
      model: said?.model ?? null,
      response: shortened(said?.lastAnswer ?? null, RESPONSE_LENGTH),
      toolUseId: open?.toolUseId ?? subagent.toolUseId,
      parent: open?.startStep ?? this.#turnStep(),
      subagent: {
        id: subagent.id,
        type: subagent.type ?? open?.type ?? null,
        description: open?.description ?? subagent.description,
        when,
      },
    });
    if (when === "progress") return;
    if (transcript) this.#requests.at(-1)?.segments.push(...segmentsOf(transcript, 0, 0, `tasks/${step.id}`));
    state.openTasks = state.openTasks.filter((task) => task.id !== subagent.id);
    if (!state.openTurn) return;
    if (said) state.openTurn.taskTokens = addTokens(state.openTurn.taskTokens, said.tokens);
    state.openTurn.taskFiles.push(...files.added, ...files.modified, ...files.deleted);
  }

  /** The transcript's new part, read once an event. */
  tail(): Tail | undefined {
    if (this.#tailRead) return this.#tail;
    this.#tailRead = true;
    const path = this.state.transcript?.path;
    if (!path) return undefined;
    const from = this.state.openTurn?.offset ?? this.state.transcript?.stored ?? 0;
    this.#tail = ifReadable(() => readTail(path, this.state.transcript, from, this.#agent.analyser));
    return this.#tail;
  }

  #add(kind: StepKind, snapshot: Snapshot, details: Partial<Step>): Step {
    const { state } = this;
    const tail = this.tail();
    // The first step of an event takes the tail with it; later ones stand at the same position.
    const segments = tail && this.#requests.length === 0 ? tail.segments : [];
    if (tail) state.transcript = tail.stored;
    state.model = details.model ?? tail?.stretch?.model ?? state.model;
    const step: Step = {
      v: 1,
      id: newStepId(),
      session: state.id,
      agent: state.agent,
      kind,
      turn: state.turn,
      time: this.#time,
      prompt: null,
      name: null,
      parent: state.lastStep?.id ?? null,
      files: { added: [], modified: [], deleted: [] },
      head: snapshot.head,
      branch: snapshot.branch,
      worktree: this.#workspace.worktree,
      model: state.model,
      tokens: null,
      response: null,
      toolUseId: null,
      command: null,
      subagent: null,
      transcript: tail ? positionOf({ ...tail.stored, lastId: this.#leaf ?? tail.stored.lastId }) : lastPosition(state),
      interrupted: false,
      ...details,
      snapshot: snapshotOf(snapshot),
    };
    if (step.command !== null) step.command = shortened(step.command, COMMAND_LENGTH);
    this.#requests.push({ step, segments });
    state.lastStep = { id: step.id, work: snapshot.work, time: step.time };
    state.steps++;
    return step;
  }

  /** As the transcript tells; of a running count, what was added to it since the turn began. */
  #tokensOf(event: Event | null, said: TranscriptStretch | null, ofTasks: Tokens): Tokens | null {
    const { tokensCounted: before } = this.state;
    const now = event?.tokensSoFar;
    if (now) this.state.tokensCounted = now;
    if (now && before) return tokensBetween(before, now);
    if (!said || this.#agent.analyser?.countsTokens === false) return null;
    return addTokens(said.tokens, ofTasks);
  }

  #turnStep(): string | null {
    return this.state.openTurn?.startStep ?? this.state.lastStep?.id ?? null;
  }

  /** Two hooks may tell of the same end, and an agent may end what it never began. */
  #somethingHappened(snapshot: Snapshot, tail: Tail | undefined): boolean {
    if (!this.state.lastStep) return true;
    if (snapshot.work !== this.state.lastStep.work) return true;
    return (tail?.stretch?.prompts.length ?? 0) > 0 || (tail?.stretch?.lastAnswer ?? null) !== null;
  }
}

function takeAnnounced(state: SessionState, subagent: SubagentRef) {
  const { announcedTasks } = state;
  const byId = announcedTasks.findIndex((task) => task.toolUseId !== null && task.toolUseId === subagent.toolUseId);
  const at = byId === -1 ? announcedTasks.findIndex((task) => task.type === subagent.type) : byId;
  return at === -1 ? undefined : state.announcedTasks.splice(at, 1)[0];
}

function positionOf({ path, stored, lastId, generation }: StoredTranscript): Step["transcript"] {
  return { path, offset: stored, lastId, generation };
}

/** An agent may clear its transcript away; what was stored of it is still the conversation. */
function lastPosition({ transcript }: SessionState): Step["transcript"] {
  return transcript && transcript.stored > 0 ? positionOf(transcript) : null;
}

function only(changes: FileChanges, own: ReadonlySet<string>): FileChanges {
  const keep = (path: string) => own.has(path);
  return {
    added: changes.added.filter(keep),
    modified: changes.modified.filter(keep),
    deleted: changes.deleted.filter(keep),
  };
}

/** A conversation that cannot be read is no reason to lose the code. */
function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    logError("reading the transcript", error);
    return undefined;
  }
}

/** A prompt as it is kept. */
export function promptOf(event: Event): string | null {
  return shortened(event.prompt, PROMPT_LENGTH);
}

function shortened(text: string | null, length: number): string | null {
  return text === null ? null : shorten(printable(text), length);
}
