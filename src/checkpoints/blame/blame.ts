/**
 * Traces a line to its commit, turn and prompt. git supplies the commit that introduced the line; the commit's
 * checkpoint, or else the steps recorded locally, supply the turn.
 */

import { readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { keptLines } from "../../attribution/line-diff.ts";
import { type Ending, LineAuthors, textLines } from "../../attribution/lines.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import { isInside } from "../../base/paths.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { type TurnRef, turnKey } from "../../model/turn.ts";
import { stepsIn } from "../../steps/log.ts";
import { OPENING as PLACEHOLDER_OPENING } from "../../transcripts/redact/placeholders.ts";
import { type FileAttribution, LINE_MARK_LENGTH, lineMark } from "../format/layout.ts";
import { checkpointsOfCommit } from "../links/history.ts";
import { CheckpointError } from "../problems.ts";
import { CheckpointReader, type StoredCheckpoint, type StoredSession } from "../read/read.ts";
import { commitFacts } from "../write/attribution.ts";
import { openRedaction } from "../write/redaction.ts";
import { type BlamedCommit, type CommittedLine, gitBlame } from "./git-blame.ts";
import { ownPrompts, promptBehind, readAs } from "./line-rationale.ts";

export interface LineStory {
  line: number;
  text: string;
  commit: BlamedCommit | null;
  /** Null if no known turn wrote the line: a person did. */
  turn: TurnStory | null;
}

export interface TurnStory {
  /** Registry name, or the display name from another tool's checkpoint. */
  agent: string;
  session: string;
  /** Null if the checkpoint only names the file, not the lines. */
  turn: number | null;
  prompt: string | null;
  response: string | null;
  checkpoint: string | null;
  /** The session's index in its checkpoint. */
  index: number | null;
  /** The step at the end of the turn, if it is recorded locally. */
  step: Step | null;
}

export interface Blame {
  path: string;
  lines: LineStory[];
  /** Sentences about data that could not be read. */
  problems: string[];
}

export interface LineWindow {
  from: number;
  to: number;
}

type Origin = (line: number, text: string) => TurnStory | null;

export async function blameFile(workspace: Workspace, path: string, window: LineWindow | null): Promise<Blame> {
  const lines = linesInWorkTree(workspace, path);
  if (window && (window.from < 1 || window.from > lines.length))
    throw new CheckpointError("usage", { kind: "line-missing", path, line: window.from, lines: lines.length });
  const range = window && { from: window.from, to: Math.min(window.to, lines.length) };
  const blamed = workspace.kind === "private" ? undefined : await gitBlame(workspace, path, range);
  const origins = new Origins(workspace);
  try {
    const committed = blamed ?? uncommitted(path, range ?? { from: 1, to: lines.length });
    const stories: LineStory[] = [];
    for (const { commit, path: then, origin, line } of committed) {
      const text = lines[line - 1] ?? "";
      const find = commit ? await origins.ofCommit(commit.id, then) : await origins.ofWorkTree(path, lines);
      stories.push({ line, text, commit, turn: find(commit ? origin : line, text) });
    }
    return { path, lines: stories, problems: [...new Set(origins.problems)] };
  } finally {
    origins.close();
  }
}

class Origins {
  readonly problems: string[] = [];
  readonly #workspace: Workspace;
  readonly #authors: LineAuthors;
  /** For the other work trees, whose commits may have reached this one. */
  readonly #elsewhere: LineAuthors[];
  readonly #checkpoints: CheckpointReader;
  readonly #known = new Map<string, Origin>();
  readonly #turns = new Map<string, Step>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
    this.#authors = new LineAuthors(workspace);
    this.#checkpoints = new CheckpointReader(workspace);
    const worktrees = new Set<string>();
    for (const step of stepsIn(workspace).newestFirst()) {
      worktrees.add(step.worktree);
      if (step.session === null || step.agent === null) continue;
      if (step.kind !== "turn-end" && step.kind !== "turn-start") continue;
      const key = turnKey({ agent: step.agent, session: step.session, turn: step.turn });
      if (step.kind === "turn-end" || !this.#turns.has(key)) this.#turns.set(key, step);
    }
    worktrees.delete(workspace.worktree);
    this.#elsewhere = [...worktrees].map((worktree) => new LineAuthors(workspace, worktree));
  }

  close(): void {
    for (const authors of [this.#authors, ...this.#elsewhere]) authors.close();
    this.#checkpoints.close();
  }

  ofWorkTree(path: string, lines: readonly string[]): Promise<Origin> {
    return this.#once(path, async () => this.#fromSteps(this.#authors, path, { lines, blob: null, until: null }));
  }

  ofCommit(commit: string, path: string): Promise<Origin> {
    return this.#once(`${commit}\0${path}`, () => this.#findOrigin(commit, path));
  }

  async #once(key: string, make: () => Promise<Origin>): Promise<Origin> {
    const known = this.#known.get(key);
    if (known) return known;
    const origin = await make();
    this.#known.set(key, origin);
    return origin;
  }

  async #findOrigin(commit: string, path: string): Promise<Origin> {
    const { message, time, parent } = await commitFacts(this.#authors, commit);
    const blob = await this.#authors.blobIn(commit, path);
    const lines = (blob === null ? undefined : await this.#authors.linesOf(blob)) ?? [];
    const checkpoints = await this.#named(commit, message);
    const names = await this.#namesOf(path, checkpoints);
    const recorded = checkpoints.flatMap((checkpoint) => this.#fromRecord(checkpoint, names, blob, lines));
    const steps: Origin[] = [];
    for (const authors of [this.#authors, ...this.#elsewhere]) {
      const origin = await this.#fromSteps(authors, path, { lines, blob, until: time, parent });
      steps.push((line, text) => linkedTo(origin(line, text), checkpoints));
    }
    const perFile: Origin[] = [];
    for (const checkpoint of recorded.length > 0 ? [] : checkpoints) {
      perFile.push(...(await this.#fromTranscripts(checkpoint, names)));
    }
    return (line, text) => {
      for (const origin of [...recorded, ...steps, ...perFile]) {
        const story = origin(line, text);
        if (story) return story;
      }
      return null;
    };
  }

  /** Returns the file's path and, if a checkpoint has redacted names, its redacted form. */
  async #namesOf(path: string, checkpoints: readonly StoredCheckpoint[]): Promise<string[]> {
    const isRedacted = checkpoints.some(({ sessions }) =>
      sessions.some(({ metadata }) => metadata.files_touched.some((name) => name.includes(PLACEHOLDER_OPENING))),
    );
    return isRedacted ? [path, (await openRedaction(this.#workspace)).name(path)] : [path];
  }

  #named(commit: string, message: string): Promise<StoredCheckpoint[]> {
    const ids = checkpointsOfCommit(this.#workspace, commit, message);
    return this.#checkpoints.findAll(commit, ids, (error) => this.problems.push(messageOf(error)));
  }

  #fromRecord(
    checkpoint: StoredCheckpoint,
    names: readonly string[],
    blob: string | null,
    lines: readonly string[],
  ): Origin[] {
    return checkpoint.sessions.flatMap((session) => {
      if (!session.record) return [];
      const file = session.record.attribution.find((each) => names.includes(each.path) || each.blob === blob);
      const turns = file ? turnsByLine(file, blob, lines) : new Map<number, number>();
      return [
        (line) => {
          const turn = turns.get(line);
          return turn === undefined ? null : this.#recordedTurn(checkpoint, session, turn);
        },
      ] satisfies Origin[];
    });
  }

  /**
   * Another tool's checkpoint names the files that a session touched, but not the lines: find the turn whose edit
   * contains the line in the stored transcripts. If there is none, only the first session is known.
   */
  async #fromTranscripts(checkpoint: StoredCheckpoint, names: readonly string[]): Promise<Origin[]> {
    const found: Origin[] = [];
    let first: TurnStory | undefined;
    for (const session of checkpoint.sessions) {
      const { metadata, index } = session;
      const path = metadata.files_touched.find((name) => names.includes(name));
      if (path === undefined) continue;
      const own = await ownPrompts(this.#checkpoints, checkpoint.id, session);
      const story: TurnStory = {
        agent: metadata.agent,
        session: metadata.session_id,
        turn: null,
        prompt: own.length === 1 ? (own[0] ?? null) : null,
        response: null,
        checkpoint: checkpoint.id,
        index,
        step: null,
      };
      first ??= story;
      const stored = await this.#checkpoints.transcript(checkpoint.id, index);
      const conversation = stored && (await readAs(metadata.agent, stored.bytes));
      if (!conversation) continue;
      found.push((_, text) => {
        const turn = promptBehind(conversation, path, text);
        return turn && { ...story, ...turn };
      });
    }
    return first ? [...found, () => first ?? null] : [];
  }

  #recordedTurn(checkpoint: StoredCheckpoint, session: StoredSession, turn: number): TurnStory {
    const record = session.record;
    const agent = record?.agent || session.metadata.agent;
    const id = record?.session || session.metadata.session_id;
    const steps = record?.steps.filter((step) => step.turn === turn) ?? [];
    const local = this.#turns.get(turnKey({ agent, session: id, turn })) ?? null;
    return {
      agent,
      session: id,
      turn,
      prompt: steps.find(({ prompt }) => prompt !== null)?.prompt ?? local?.prompt ?? null,
      response: steps.findLast(({ response }) => response !== null)?.response ?? local?.response ?? null,
      checkpoint: checkpoint.id,
      index: session.index,
      step: local,
    };
  }

  async #fromSteps(from: LineAuthors, path: string, ending: Ending): Promise<Origin> {
    const { authors } = await from.follow(path, ending);
    return (line) => {
      const author = authors[line - 1];
      return author ? this.#turnHere(author) : null;
    };
  }

  #turnHere(author: TurnRef): TurnStory {
    const step = this.#turns.get(turnKey(author)) ?? null;
    const { prompt = null, response = null } = step ?? {};
    return { ...author, prompt, response, checkpoint: null, index: null, step };
  }
}

/**
 * Maps the lines of a committed file to turns. A rebase or an amend may have changed the file: then the lines are
 * matched by their marks, in order.
 */
function turnsByLine(file: FileAttribution, blob: string | null, lines: readonly string[]): Map<number, number> {
  const turns = new Map<number, number>();
  const marked = file.ranges.flatMap(({ start, turn, marks }) =>
    Array.from({ length: marks.length / LINE_MARK_LENGTH }, (_, i) => {
      return { line: start + i, turn, mark: marks.slice(i * LINE_MARK_LENGTH, (i + 1) * LINE_MARK_LENGTH) };
    }),
  );
  if (file.blob === blob) {
    for (const { line, turn } of marked) turns.set(line, turn);
    return turns;
  }
  const kept = keptLines(
    marked.map(({ mark }) => mark),
    lines.map(lineMark),
  );
  for (const [index, from] of kept.entries()) {
    const origin = from < 0 ? undefined : marked[from];
    if (origin) turns.set(index + 1, origin.turn);
  }
  return turns;
}

/** Adds the commit's checkpoint that contains the turn's session, and the session's index. */
function linkedTo(story: TurnStory | null, checkpoints: readonly StoredCheckpoint[]): TurnStory | null {
  if (!story) return null;
  for (const { id, sessions } of checkpoints) {
    const session = sessions.find(({ metadata }) => metadata.session_id === story.session);
    if (session) return { ...story, checkpoint: id, index: session.index };
  }
  return story;
}

function uncommitted(path: string, { from, to }: LineWindow): CommittedLine[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => {
    return { commit: null, path, origin: from + i, line: from + i };
  });
}

function linesInWorkTree(workspace: Workspace, path: string): string[] {
  const absolute = join(workspace.root, path);
  let data: Buffer;
  try {
    // A symbolic link in the path must not lead out of the work tree.
    if (!isInside(workspace.root, realpathSync(absolute))) throw outside(path);
    if (!statSync(absolute).isFile()) throw new CheckpointError("usage", { kind: "not-a-file", path });
    data = readFileSync(absolute);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "ENOTDIR") throw error;
    throw new CheckpointError("not-found", { kind: "file-missing", path });
  }
  const lines = textLines(data);
  if (lines) return lines;
  throw new CheckpointError("usage", { kind: "not-text", path });
}

function outside(path: string): CheckpointError {
  return new CheckpointError("usage", { kind: "not-in-work-tree", path });
}
