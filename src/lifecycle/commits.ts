/**
 * What git's hooks lead to. Before a commit: which sessions had a hand in it, and the trailer that ties it to their checkpoint.
 * After it: what is left for the next one, and the checkpoint's place in the queue. The checkpoint itself is the worker's.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { now } from "../base/clock.ts";
import { faultPoint } from "../base/fault.ts";
import { readJson, removeFile, writeFileAtomic, writeJson } from "../base/files.ts";
import { acquire, type Lock } from "../base/lock.ts";
import { log, logTo, setLogLevel } from "../base/log.ts";
import { newCheckpointId } from "../checkpoints/layout.ts";
import { changedSince, type Head, isReplaying, readHead, type Staged, stagedChanges } from "../checkpoints/link.ts";
import {
  type Condensed,
  type Moment,
  type Pending,
  pendingKeys,
  readCondensed,
  readPending,
  type Unfinished,
  writeCondensed,
  writePending,
} from "../checkpoints/pending.ts";
import { enqueue, type QueuedSession } from "../checkpoints/queue.ts";
import {
  checkpointsIn,
  isOtherwiseEmpty,
  linkedIn,
  withCheckpoints,
  withoutCheckpoints,
} from "../checkpoints/trailers.ts";
import { openObjects } from "../checkpoints/write.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { isTracked } from "../git/tracked.ts";
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import { sessionLock } from "../steps/session-tree.ts";
import { ancestorsOf, argumentsOf } from "./ancestry.ts";
import { startWorker } from "./background.ts";
import { runningTurnFiles } from "./claims.ts";
import type { Ask, offeredMessage } from "./link-question.ts";
import { transition } from "./phase.ts";
import { loadSession, marked, type SessionState, saveSession } from "./session-state.ts";

const LOCK_WAIT_MS = 1_000;

/** What prepare-commit-msg found, for post-commit: commit-intent.json in the work tree's state. */
interface Intent {
  v: 1;
  checkpoint: string;
  /** Where HEAD was: while it is there, the commit has not been made. */
  head: string | null;
  /** Files of theirs that it takes, and those of them that the work tree holds more of. */
  sessions: { key: string; files: string[]; left: string[] }[];
}

/** `args` are what git gives the hook; for prepare-commit-msg after git's process id. */
export async function runGitHook(hook: string, args: readonly string[], ask: Ask): Promise<void> {
  if (hook === "commit-msg") return stripEmpty(args[0] ?? "");
  const workspace = findWorkspace(process.cwd());
  if (workspace?.kind !== "repository" || !isEnabled(workspace)) return;
  logTo(workspace.storeDir);
  const config = loadConfig(workspace.root, { isTracked: (file) => isTracked(workspace, file) });
  setLogLevel(config.log_level);
  if (!config.enabled) return;
  if (hook === "prepare-commit-msg") await prepare(workspace, config, args, ask);
  else if (hook === "post-commit") await commitMade(workspace, config);
}

async function prepare(workspace: Workspace, config: Config, args: readonly string[], ask: Ask): Promise<void> {
  const [pid = "", file = "", source = ""] = args;
  await finishCommit(workspace);
  removeFile(intentFile(workspace));
  if (config.commit_linking === "never" || isReplaying(workspace) || source === "merge" || file === "") return;
  const message = readFileSync(file, "utf8");
  // A revert without conflicts leaves no other sign.
  if (/^This reverts commit [0-9a-f]{7,64}/m.test(message)) return;
  if (source === "squash") {
    const quoted = checkpointsIn(message).filter((id) => !linkedIn(message).includes(id));
    if (quoted.length > 0) return writeFileAtomic(file, withCheckpoints(message, quoted), { mode: 0o644 });
  }
  const sessions = await concerned(workspace, Number(pid));
  const inherited = linkedIn(message).at(-1) ?? (await amended(workspace, Number(pid), source));
  const checkpoint = inherited ?? (sessions.length > 0 ? newCheckpointId() : undefined);
  if (checkpoint === undefined) return;
  if (sessions.length > 0) {
    const head = (await readHead(workspace))?.commit ?? null;
    writeJson(intentFile(workspace), { v: 1, checkpoint, head, sessions } satisfies Intent);
    faultPoint("commit:intent");
  }
  if (linkedIn(message).includes(checkpoint)) return;
  const text =
    config.commit_linking === "prompt" && inherited === undefined
      ? await offered(workspace, { message, checkpoint, pid: Number(pid), ask })
      : withCheckpoints(message, [checkpoint]);
  if (text !== message) writeFileAtomic(file, text, { mode: 0o644 });
}

/** Few ask to be asked: the others load nothing for it. */
async function offered(...args: Parameters<typeof offeredMessage>): Promise<string> {
  return (await import("./link-question.ts")).offeredMessage(...args);
}

/** `--amend -m` gives a new message, but the commit is the same one: its checkpoint stays. */
async function amended(workspace: Workspace, pid: number, source: string): Promise<string | undefined> {
  if (source !== "message" || !argumentsOf(pid).includes("--amend")) return undefined;
  return (await readHead(workspace))?.linked.at(-1);
}

/** By files that a session changed and no commit has taken, and by what a running turn has changed so far. */
async function concerned(workspace: Workspace, pid: number): Promise<Intent["sessions"]> {
  const pending = pendingKeys(workspace).map((key) => ({ key, files: readPending(workspace, key).files }));
  const running = runningTurns(workspace);
  const only = running.length > 0 ? null : [...new Set(pending.flatMap(({ files }) => files))];
  if (only?.length === 0) return [];
  const staged = await stagedChanges(workspace, process.env["GIT_INDEX_FILE"], only);
  const found = new Map<string, Set<string>>();
  for (const { key, files } of pending) {
    const taken = files.filter((path) => staged.blobs.has(path));
    if (taken.length > 0) found.set(key, new Set(taken));
  }
  if (running.length > 0) await addRunning(workspace, staged, running, pid, found);
  return [...found].map(([key, paths]) => {
    const files = [...paths].sort();
    return { key, files, left: files.filter((path) => staged.leftOver.has(path)) };
  });
}

interface RunningTurn {
  key: string;
  state: SessionState;
}

function runningTurns(workspace: Workspace): RunningTurn[] {
  return marked(workspace, "active").flatMap((key) => {
    const state = loadSession(workspace, key);
    return state?.openTurn ? [{ key, state }] : [];
  });
}

async function addRunning(
  workspace: Workspace,
  staged: Staged,
  running: readonly RunningTurn[],
  pid: number,
  found: Map<string, Set<string>>,
): Promise<void> {
  const ancestors = running.some(({ state }) => state.process) ? ancestorsOf(pid) : new Set<number>();
  const committing = running.filter(({ state }) => state.process && ancestors.has(state.process.pid));
  const written = await writtenBy(workspace, running);
  const objects = openObjects(workspace);
  try {
    for (const turn of running) {
      const { key, state } = turn;
      const before = state.openTurn?.work;
      const changed = before ? await changedSince(objects.trees, before, staged) : [...staged.blobs.keys()];
      // What no turn's tools say they wrote is the committing agent's; with nobody known, that of every turn.
      const nobodys = committing.length === 0 || committing.includes(turn);
      const paths = changed.filter((path) => {
        const writers = running.filter((other) => written.get(other.key)?.has(path));
        return writers.length > 0 ? writers.includes(turn) : nobodys;
      });
      if (paths.length > 0 || committing.includes(turn)) found.set(key, new Set([...(found.get(key) ?? []), ...paths]));
    }
  } finally {
    objects.reader.close();
  }
}

/** Of one turn alone, everything that changed is its own: nothing has to be read. */
async function writtenBy(workspace: Workspace, running: readonly RunningTurn[]): Promise<Map<string, Set<string>>> {
  const written = new Map<string, Set<string>>();
  if (running.length < 2) return written;
  for (const { key } of running) written.set(key, new Set(await runningTurnFiles(workspace, key)));
  return written;
}

/** What a killed post-commit left, or one that git never came to: made good by whoever comes next. */
export async function finishCommit(workspace: Workspace): Promise<void> {
  if (workspace.kind !== "repository" || !existsSync(intentFile(workspace))) return;
  const intent = readIntent(workspace);
  const head = intent && (await readHead(workspace));
  // HEAD may have moved for another reason, after a commit that was given up: only the trailer proves that it was made.
  if (head?.linked.includes(intent?.checkpoint ?? "")) await commitMade(workspace, loadConfig(workspace.root));
  else if (!intent || head?.commit !== intent.head) removeFile(intentFile(workspace));
}

/** The queue first, what follows from it after, the intent last: killed anywhere in between, doing it again comes to the same. */
async function commitMade(workspace: Workspace, config: Config): Promise<void> {
  const intent = readIntent(workspace);
  const head = intent && (await readHead(workspace));
  if (!intent || !head || head.commit === intent.head) return removeFile(intentFile(workspace));
  faultPoint("commit:made");
  const locks = new Map<string, Lock | undefined>();
  try {
    const parts: CommitPart[] = [];
    for (const { key } of intent.sessions) locks.set(key, await acquire(sessionLock(workspace, key), LOCK_WAIT_MS));
    for (const session of intent.sessions) {
      const state = loadSession(workspace, session.key);
      if (state) parts.push(partOf(workspace, intent, head, session, state));
    }
    // The user may have taken the trailer out: then there is no checkpoint, but the files are committed all the same.
    const isLinked = head.linked.includes(intent.checkpoint) && parts.length > 0;
    if (isLinked) {
      const { checkpoint } = intent;
      const { commit, branch } = head;
      const [time, sessions] = [now().toISOString(), parts.map((part) => part.queued)];
      enqueue(workspace, { v: 1, checkpoint, commit, branch, strategy: config.strategy, time, sessions });
      faultPoint("commit:queued");
    }
    for (const { key, state, pending, unfinished, condensed } of parts) {
      writePending(workspace, key, isLinked ? { ...pending, unfinished } : pending);
      faultPoint("commit:pending");
      if (isLinked) writeCondensed(workspace, key, condensed);
      if (locks.get(key)) movePhase(workspace, state);
      faultPoint("commit:condensed");
    }
    removeFile(intentFile(workspace));
    if (isLinked) startWorker(workspace);
  } finally {
    for (const lock of locks.values()) lock?.release();
  }
}

/** One session's part in a commit: what is queued for its checkpoint, and what is left for the next one. */
interface CommitPart {
  key: string;
  state: SessionState;
  queued: QueuedSession;
  pending: Omit<Pending, "v">;
  /** Where the commit is linked: also the checkpoint of the turn that still runs. */
  unfinished: Unfinished[];
  condensed: Condensed;
}

function partOf(
  workspace: Workspace,
  { checkpoint }: Intent,
  { commit, branch }: Head,
  { key, files, left }: Intent["sessions"][number],
  state: SessionState,
): CommitPart {
  const condensed = readCondensed(workspace, key);
  // Amended: the same checkpoint again, with all that it had.
  const before = condensed.last?.checkpoint === checkpoint ? condensed.last : null;
  const since = before?.since ?? condensed.since;
  const all = [...new Set([...(before?.files ?? []), ...files])].sort();
  const pending = readPending(workspace, key);
  const rest = pending.files.filter((path) => !files.includes(path) || left.includes(path));
  const open = { checkpoint, commit, branch, files: all, since, turn: state.turn };
  const earlier = pending.unfinished.filter((other) => other.checkpoint !== checkpoint);
  const until = momentOf(state);
  return {
    key,
    state,
    queued: queuedSession(key, state, all, since, until),
    pending: { files: rest, unfinished: pending.unfinished },
    unfinished: state.openTurn === null ? pending.unfinished : [...earlier, open],
    condensed: {
      since: rest.length === 0 ? nextSince(state, until) : condensed.since,
      last: { checkpoint, since, files: all },
    },
  };
}

export function queuedSession(
  key: string,
  { agent, id, model, transcript }: SessionState,
  files: string[],
  since: Moment,
  until: Moment,
): QueuedSession {
  return { key, agent, id, model, files, since, until, transcriptPath: transcript?.path ?? null };
}

export function momentOf({ turn, transcript }: SessionState): Moment {
  return { turn, generation: transcript?.generation ?? 0, offset: transcript?.stored ?? 0 };
}

/** A turn that still runs belongs to the next checkpoint too, from its prompt on. */
function nextSince({ turn, openTurn }: SessionState, until: Moment): Moment {
  return openTurn ? { ...until, turn: turn - 1, offset: openTurn.offset } : until;
}

function movePhase(workspace: Workspace, state: SessionState): void {
  const { phase } = transition(state.phase, "GitCommit");
  if (phase === state.phase) return;
  state.phase = phase;
  state.revision++;
  saveSession(workspace, state);
}

/** git gives up a commit without a message; a trailer alone must not be taken for one. */
function stripEmpty(file: string): void {
  const message = readFileSync(file, "utf8");
  if (isOtherwiseEmpty(message)) writeFileAtomic(file, withoutCheckpoints(message), { mode: 0o644 });
}

function intentFile(workspace: Workspace): string {
  return join(workspace.stateDir, "commit-intent.json");
}

function readIntent(workspace: Workspace): Intent | undefined {
  try {
    const intent = readJson(intentFile(workspace)) as Partial<Intent> | undefined;
    const { v, checkpoint, sessions } = intent ?? {};
    const isWhole = v === 1 && typeof checkpoint === "string" && Array.isArray(sessions) && sessions.every(isConcerned);
    return isWhole ? { v, checkpoint, head: intent?.head ?? null, sessions } : undefined;
  } catch (error) {
    log("warn", "commit", `What was found before the commit cannot be read: ${String(error)}`);
    return undefined;
  }
}

function isConcerned(value: unknown): value is Intent["sessions"][number] {
  if (typeof value !== "object" || value === null) return false;
  const { key, files, left } = value as Partial<Intent["sessions"][number]>;
  return typeof key === "string" && /^[0-9a-f]+$/.test(key) && Array.isArray(files) && Array.isArray(left);
}
