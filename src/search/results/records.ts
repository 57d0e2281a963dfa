/**
 * The records of one repository: which step recorded a turn, whether it was undone or rewound, which commit took it, and
 * whether its check passed. Loaded only for hits in recorded repositories.
 */
import { committedFiles, linkedCommits } from "../../checkpoints/links/committed-files.ts";
import { checkpointsOfSession, type LinkedCommit } from "../../checkpoints/links/history.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import { changedPaths } from "../../model/changes.ts";
import { sessionRefKey } from "../../model/session.ts";
import type { Step } from "../../model/step.ts";
import { isTurnStep } from "../../model/turn.ts";
import { activeRestores, type RestoreRecord } from "../../restore/apply/restore-log.ts";
import { type CheckResults, readCheckResults } from "../../restore/targets/check-results.ts";
import { readTurnStatuses, type TurnStatuses } from "../../restore/targets/turn-status.ts";
import type { TurnName } from "../../restore/targets/turns.ts";
import { logsDirectory } from "../../run/log/layout.ts";
import { inOrder } from "../../run/sessions/model.ts";
import { sessionTree } from "../../run/sessions/tree.ts";
import { stepsIn } from "../../steps/log.ts";
import { estimatedCost } from "../../transcripts/prices.ts";
import type { Document } from "../index/documents.ts";
import type { Fate, SessionLocation } from "./fates.ts";

/** Clocks of git have seconds. */
const SECOND = 1_000;

export class RepositoryRecords {
  readonly workspace: Workspace;
  readonly #steps: Step[];
  readonly #bySession: Map<string, Step[]>;
  readonly #byId: Map<string, Step>;
  readonly #commits = new Map<string, Promise<LinkedCommit[]>>();
  #statuses: TurnStatuses | undefined;
  #checks: CheckResults | undefined;
  #restores: readonly RestoreRecord[] | undefined;
  #runs: Promise<Map<string, readonly string[]>> | undefined;

  constructor(workspace: Workspace) {
    this.workspace = workspace;
    this.#steps = stepsIn(workspace).list();
    this.#byId = new Map(this.#steps.map((step) => [step.id, step]));
    const turns = this.#steps.filter((step) => isTurnStep(step) && step.subagent === null).reverse();
    this.#bySession = Map.groupBy(turns, ({ agent, session }) =>
      sessionRefKey({ agent: agent ?? "", session: session ?? "" }),
    );
  }

  /** The step that represents the turn of a document: its end, or its newest step while it is running. */
  stepOf({ step, position, turn }: Document, { agent, session }: SessionLocation): Step | undefined {
    if (step !== null) return this.#byId.get(step);
    const steps = this.#bySession.get(sessionRefKey({ agent, session })) ?? [];
    const last = steps.at(-1)?.transcript?.generation;
    const isPast = (one: Step) => one.transcript?.generation === last && (one.transcript?.offset ?? 0) > position;
    const end = steps.find((one) => one.kind === "turn-end" && isPast(one));
    if (end && !isBefore(position, end, steps)) return end;
    if (end) return steps.findLast((one) => one.turn > turnBefore(end, steps) && one.turn < end.turn);
    const newest = steps.findLast((one) => one.turn === turn);
    return newest ?? (steps.some(isPast) ? steps.at(-1) : undefined);
  }

  stateOf(step: Step): Fate["state"] {
    this.#statuses ??= readTurnStatuses(this.workspace, this.#steps);
    const status = this.#statuses.of(step);
    return status === null ? "kept" : status === "undone" ? "undone" : "rewound";
  }

  isForked(step: Step): boolean {
    this.#statuses ??= readTurnStatuses(this.workspace, this.#steps);
    return this.#statuses.forks([step]).length > 0;
  }

  checkOf(step: Step): Fate["check"] {
    this.#checks ??= readCheckResults(this.workspace);
    const verdict = this.#checks.of(step);
    return verdict === "pass" ? "green" : verdict === "fail" ? "red" : null;
  }

  /**
   * The first commit of a linked checkpoint that has one of the turn's files, made after the turn began and, if it was
   * undone or rewound, before that.
   */
  async commitOf(step: Step): Promise<string | null> {
    const files = new Set(changedPaths(step.files));
    if (files.size === 0 || step.session === null || this.workspace.kind === "private") return null;
    const commits = await this.#commitsOf(step.session);
    if (commits.length === 0) return null;
    const start = this.#startOf(step);
    const gone = this.#goneSince(step);
    for (const { id, time } of commits) {
      if (await this.#isBefore(id, Date.parse(time), start)) continue;
      if (gone !== null && Date.parse(time) > Date.parse(gone)) continue;
      const changed = await committedFiles(this.workspace, id);
      if (changed.some((file) => files.has(file))) return id;
    }
    return null;
  }

  /** Whether a commit was made before the turn began. In the second of its start, the history decides. */
  async #isBefore(commit: string, time: number, { time: started, head }: Step): Promise<boolean> {
    const start = Date.parse(started);
    if (time + SECOND <= start || commit === head) return true;
    if (time > start || head === null) return false;
    return (await gitIn(this.workspace).try(["merge-base", "--is-ancestor", commit, head])).code === 0;
  }

  /** The turn's first step; the step itself where the beginning is not recorded. */
  #startOf(step: Step): Step {
    const steps = this.#bySession.get(sessionRefKey({ agent: step.agent ?? "", session: step.session ?? "" })) ?? [];
    return steps.find(({ kind, turn }) => kind === "turn-start" && turn === step.turn) ?? step;
  }

  /** When an undo or a rewind took the turn's changes out of the files; null if they are kept. */
  #goneSince(step: Step): string | null {
    const state = this.stateOf(step);
    if (state === "kept") return null;
    this.#restores ??= activeRestores(this.workspace);
    const isIt = ({ kind, time, target }: RestoreRecord) =>
      time >= step.time &&
      (state === "rewound"
        ? kind === "rewind"
        : "turns" in target && target.turns.some((turn) => isTurnOf(turn, step)));
    return this.#restores.find(isIt)?.time ?? null;
  }

  async fateOf(step: Step): Promise<Fate> {
    return { state: this.stateOf(step), commit: await this.commitOf(step), check: this.checkOf(step) };
  }

  /** The tags of a headless run; undefined if the session is none. */
  async runTags(session: string): Promise<readonly string[] | undefined> {
    this.#runs ??= sessionTree(this.workspace, logsDirectory(this.workspace.root, process.env)).then(
      (nodes) => new Map(inOrder(nodes).flatMap((node) => (node.log ? [[node.id, node.tags]] : []))),
    );
    return (await this.#runs).get(session);
  }

  costOf({ agent, model, tokens, time, usd }: Step): number | null {
    if (usd !== undefined) return usd;
    return tokens ? (estimatedCost([{ agent, model, tokens, time }])?.usd ?? null) : null;
  }

  /** Oldest first. */
  #commitsOf(session: string): Promise<LinkedCommit[]> {
    const known = this.#commits.get(session) ?? this.#readCommits(session);
    this.#commits.set(session, known);
    return known;
  }

  async #readCommits(session: string): Promise<LinkedCommit[]> {
    const checkpoints = new Set(await checkpointsOfSession(this.workspace, session));
    if (checkpoints.size === 0) return [];
    const commits = await linkedCommits(this.workspace);
    return commits.filter((commit) => commit.checkpoints.some((id) => checkpoints.has(id)));
  }
}

/** Where the turns before this one are missing, as forgotten ones are, the text before its beginning is theirs. */
function isBefore(position: number, end: Step, steps: readonly Step[]): boolean {
  if (end.turn - turnBefore(end, steps) <= 1) return false;
  const start = steps.find(({ kind, turn }) => kind === "turn-start" && turn === end.turn)?.transcript;
  return start?.generation === end.transcript?.generation && (start?.offset ?? 0) > position;
}

/** The last turn before this one whose end is recorded; 0 if there is none. */
function turnBefore(end: Step, steps: readonly Step[]): number {
  return steps.findLast(({ kind, turn }) => kind === "turn-end" && turn < end.turn)?.turn ?? 0;
}

function isTurnOf({ agent, session, turn }: TurnName, step: Step): boolean {
  return agent === step.agent && session === step.session && turn === step.turn;
}
