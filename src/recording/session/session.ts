/**
 * A session during one event: updates its state and collects the steps to save. The dispatcher decides when a step is
 * taken.
 */
import type { Agent } from "../../agents/contract/agent.ts";
import { newStepId } from "../../base/ids.ts";
import { logError } from "../../base/log.ts";
import { printable, shorten } from "../../base/text.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import type { Capture, Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import { changedPaths, type FileChanges } from "../../model/changes.ts";
import type { TranscriptSlice } from "../../model/conversation.ts";
import type { Event, SubagentRef } from "../../model/event.ts";
import type { Step, StepKind } from "../../model/step.ts";
import { addTokens, NO_TOKENS, type Tokens, tokensBetween } from "../../model/tokens.ts";
import { hasTranscript } from "../../steps/conversation/files.ts";
import { changesBetween } from "../../steps/diff.ts";
import { type SaveRequest, snapshotOf } from "../../steps/save.ts";
import { applyEvent } from "../phase.ts";
import { relativePaths } from "../relative-paths.ts";
import { readTail, readWhole, segmentsOf, type Tail } from "../transcript-tail.ts";
import { keyOf, type SessionState, type StoredTranscript, stateFile } from "./store.ts";

const LENGTHS = { prompt: 4_000, response: 1_000, command: 500 } as const;
const TASK_TRANSCRIPT_LIMIT = 64 << 20;

export interface SessionParts {
  workspace: Workspace;
  agent: Agent;
  state: SessionState;
  time: string;
  /** The current entry of the conversation, if the agent reports it: it need not be on the newest entry's branch. */
  leaf?: string | undefined;
}

/** A snapshot and the capture that took it. The capture can read the snapshot's trees. */
export interface Captured {
  capture: Capture;
  snapshot: Snapshot;
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

  /** The steps to save. The last request also writes the session's new state. */
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
    // Drop tasks that never started (refused, interrupted), so that another task cannot take over their description.
    state.announcedTasks = [];
    const prompt = promptOf(event) ?? this.#unsentPrompt(tail);
    state.title ??= shortened(event.prompt ?? prompt, 200);
    const startStep = snapshot && takeStep ? this.#add("turn-start", snapshot, { prompt }).id : null;
    state.openTurn = {
      startStep,
      work: snapshot?.work ?? null,
      prompt,
      promptId: event.metadata["prompt_id"] ?? null,
      startedAt: this.#time,
      offset: tail?.stored.stored ?? state.transcript?.stored ?? 0,
      after: tail?.stored.lastId ?? state.transcript?.lastId ?? null,
      taskTokens: { ...NO_TOKENS },
      taskFiles: [],
    };
  }

  /** The prompt of a turn that begins, from the transcript of an agent whose hooks never have one. */
  #unsentPrompt(tail: Tail | undefined): string | null {
    if (this.#agent.profile.hooks?.fields.prompt !== undefined || tail?.slice?.lastAnswer !== null) return null;
    return shortened(tail.slice.prompts.at(-1) ?? null, LENGTHS.prompt);
  }

  /**
   * Begins a turn that the agent did not announce, if the transcript has a new prompt. It begins at the last step.
   * Otherwise a step inside the turn would take the prompt and the changes that belong to the turn-end step.
   */
  beginUnannouncedTurn(): void {
    const { state } = this;
    const prompt = this.tail()?.slice?.prompts.at(-1);
    if (state.openTurn || state.phase !== "IDLE" || prompt === undefined) return;
    applyEvent(state, "TurnStart");
    const { lastStep } = state;
    state.turn++;
    state.title ??= shortened(prompt, 200);
    state.openTurn = {
      startStep: lastStep?.id ?? null,
      work: lastStep?.work ?? null,
      prompt: shortened(prompt, LENGTHS.prompt),
      promptId: null,
      startedAt: lastStep?.time ?? this.#time,
      offset: state.transcript?.stored ?? 0,
      after: state.transcript?.lastId ?? null,
      taskTokens: { ...NO_TOKENS },
      taskFiles: [],
    };
  }

  /** Closes the open turn, or a turn without a recorded start. */
  async endTurn({ capture, snapshot }: Captured, event: Event | null, interrupted: boolean): Promise<void> {
    const { state } = this;
    const turn = state.openTurn;
    const tail = this.tail();
    const said = tail?.slice ?? null;
    if (!turn && !this.#somethingHappened(snapshot, tail)) return;
    if (!turn && (state.turn === 0 || (said?.prompts.length ?? 0) > 0 || !announcesTurns(this.#agent))) state.turn++;
    const prompt = turn?.prompt ?? shortened(said?.prompts.at(-1) ?? null, LENGTHS.prompt);
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
      files: await this.#ownChanges(since, changes, own),
      tokens: this.#tokensOf(event, said, turn?.taskTokens ?? NO_TOKENS),
      ...apiCallsIn(said),
      // The tokens include those of subagents; the agent's cost does not.
      ...(said?.usd !== undefined && turn?.taskTokens.output === 0 ? { usd: said.usd } : {}),
      model: said?.model ?? event?.model ?? state.model,
      response: shortened(event?.response ?? said?.lastAnswer ?? null, LENGTHS.response),
      interrupted: interrupted || (said?.interrupted ?? false),
    });
    state.openTurn = null;
  }

  /** Loads the module only for changes that the agent's tools do not report, such as those of a shell. */
  async #ownChanges(since: string, changes: FileChanges, written: ReadonlySet<string>): Promise<FileChanges> {
    if (changedPaths(changes).every((path) => written.has(path))) return changes;
    return (await import("../claims.ts")).ownChanges(this.#workspace, this.state, since, changes, written);
  }

  /** Closes the open turn of an agent that has exited or that the user interrupted. */
  async endInterruptedTurn(captured: Captured): Promise<void> {
    applyEvent(this.state, "TurnEnd");
    await this.endTurn(captured, null, true);
  }

  /** Saves the open turn, an unannounced turn, or otherwise the changes since the last turn. */
  async endSession(captured: Captured): Promise<void> {
    const tail = this.tail();
    if (this.state.openTurn || (tail?.slice?.prompts.length ?? 0) > 0) await this.endTurn(captured, null, false);
    else if (this.state.lastStep && this.#somethingHappened(captured.snapshot, tail))
      await this.addStep("baseline", captured, { sessionEnd: true });
  }

  /** Adds a step other than a turn's start or end: before a command, after a tool, at a compaction, and so on. */
  async addStep(kind: StepKind, { capture, snapshot }: Captured, details: Partial<Step> = {}): Promise<Step> {
    const since = this.state.openTurn?.work ?? this.state.lastStep?.work ?? snapshot.work;
    const files = changesBetween(await compareTrees(capture.trees, since, snapshot.work));
    return this.#add(kind, snapshot, { files, prompt: this.state.openTurn?.prompt ?? null, ...details });
  }

  beginTask(subagent: SubagentRef, snapshot: Snapshot): void {
    const { state } = this;
    const announced = takeAnnounced(state, subagent);
    for (const task of state.openTasks) task.shared = true;
    const description = subagent.description ?? announced?.description ?? null;
    const prompt = shortened(subagent.prompt ?? announced?.prompt ?? null, LENGTHS.prompt);
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

  /** Adds the step for a subagent's end or progress. */
  async addTask({ capture, snapshot }: Captured, subagent: SubagentRef, when: "progress" | "end"): Promise<void> {
    const { state } = this;
    const open = state.openTasks.find((task) => task.id === subagent.id);
    const path = subagent.transcriptPath;
    const transcript = path === null ? undefined : ifReadable(() => readWhole(path, TASK_TRANSCRIPT_LIMIT));
    const said = transcript && this.#agent.analyzer ? this.#agent.analyzer.readSlice(transcript, 0) : null;
    const own = new Set(relativePaths(this.#workspace.root, state.cwd, said?.files ?? []));
    const before = open?.work ?? state.openTurn?.work ?? snapshot.work;
    const changes = changesBetween(await compareTrees(capture.trees, before, snapshot.work));
    const files = open && !open.shared ? changes : only(changes, own);
    const prompt = shortened(open?.prompt ?? subagent.prompt ?? said?.prompts[0] ?? null, LENGTHS.prompt);
    const step = this.#add("task", snapshot, {
      prompt,
      files,
      tokens: said?.tokens ?? null,
      ...apiCallsIn(said),
      model: said?.model ?? null,
      response: shortened(said?.lastAnswer ?? null, LENGTHS.response),
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
    state.openTurn.taskFiles.push(...changedPaths(files));
  }

  /** The new part of the transcript; read once per event. */
  tail(): Tail | undefined {
    if (this.#tailRead) return this.#tail;
    this.#tailRead = true;
    this.#noticeLostConversation();
    const path = this.state.transcript?.path;
    if (!path) return undefined;
    const from = this.state.openTurn?.offset ?? this.state.transcript?.stored ?? 0;
    const { openTurn, transcript } = this.state;
    const after = openTurn ? (openTurn.after ?? null) : (transcript?.lastId ?? null);
    this.#tail = ifReadable(() => readTail(path, transcript, from, this.#agent.analyzer, after));
    return this.#tail;
  }

  /** Stores the transcript from its beginning again if its stored part has expired: a hole would make the rest useless. */
  #noticeLostConversation(): void {
    const { transcript } = this.state;
    if (!transcript || transcript.stored === 0) return;
    if (!hasTranscript(this.#workspace, keyOf(this.state), transcript.generation)) transcript.stored = 0;
  }

  #add(kind: StepKind, snapshot: Snapshot, details: Partial<Step>): Step {
    const { state } = this;
    const tail = this.tail();
    // The first step of an event stores the tail; later steps of the event share its position.
    const segments = tail && this.#requests.length === 0 ? tail.segments : [];
    if (tail) state.transcript = tail.stored;
    state.model = details.model ?? tail?.slice?.model ?? state.model;
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
    if (step.command !== null) step.command = shortened(step.command, LENGTHS.command);
    this.#requests.push({ step, segments });
    state.lastStep = { id: step.id, work: snapshot.work, time: step.time };
    state.steps++;
    return step;
  }

  /** The turn's tokens: the increase of the agent's running count, or else the sum from the transcript. */
  #tokensOf(event: Event | null, said: TranscriptSlice | null, ofTasks: Tokens): Tokens | null {
    const { tokensCounted: before } = this.state;
    const now = event?.tokensSoFar;
    if (now) this.state.tokensCounted = now;
    if (now && before) return tokensBetween(before, now);
    if (!said || said.tokensUnknown || this.#agent.analyzer?.countsTokens === false) return null;
    // What comes after a turn's end belongs to that turn, and its tokens are counted there.
    if (this.state.openTurn === null && said.apiCalls === undefined && said.prompts.length === 0) return null;
    return addTokens(said.tokens, ofTasks);
  }

  #turnStep(): string | null {
    return this.state.openTurn?.startStep ?? this.state.lastStep?.id ?? null;
  }

  /** False if nothing is new: two hooks may report the same end, and an agent may end a turn that it never began. */
  #somethingHappened(snapshot: Snapshot, tail: Tail | undefined): boolean {
    if (!this.state.lastStep) return true;
    if (snapshot.work !== this.state.lastStep.work) return true;
    return (tail?.slice?.prompts.length ?? 0) > 0 || (tail?.slice?.lastAnswer ?? null) !== null;
  }
}

/** False for an agent that reports only the end of its turns: each end is then a separate turn. */
function announcesTurns({ profile }: Agent): boolean {
  const meanings = Object.values(profile.hooks?.events ?? {});
  if (meanings.length === 0) return true;
  return meanings.some((meaning) =>
    typeof meaning === "string" ? meaning === "TurnStart" : [meaning].flat().some(({ is }) => is === "TurnStart"),
  );
}

function apiCallsIn(said: TranscriptSlice | null): Pick<Step, "apiCalls"> {
  return said?.apiCalls ? { apiCalls: said.apiCalls } : {};
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

/** The stored position, for a transcript that the agent has deleted: the stored conversation remains valid. */
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

/** An unreadable transcript must not prevent the step from recording the code. */
function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    logError("reading the transcript", error);
    return undefined;
  }
}

/** The prompt as stored: printable and shortened. */
export function promptOf(event: Event): string | null {
  return shortened(event.prompt, LENGTHS.prompt);
}

function shortened(text: string | null, length: number): string | null {
  return text === null ? null : shorten(printable(text), length);
}
