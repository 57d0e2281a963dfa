/**
 * Handles git's commit hooks. Before a commit: finds the sessions that contributed to it and adds the trailer that
 * links it to their checkpoint. After it: updates the pending files and queues the checkpoint, which the worker writes.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { filesOfRunning, type RunningChanges } from "../attribution/files.ts";
import { now } from "../base/clock.ts";
import { faultPoint } from "../base/fault-point.ts";
import { removeFile, writeFileAtomic, writeJson } from "../base/fs/files.ts";
import { acquire, type Lock } from "../base/fs/lock.ts";
import { logTo, setLogLevel } from "../base/log.ts";
import { newCheckpointId } from "../checkpoints/format/layout.ts";
import {
  checkpointsIn,
  isOtherwiseEmpty,
  linkedIn,
  withCheckpoints,
  withoutCheckpoints,
} from "../checkpoints/links/trailers.ts";
import {
  type Condensed,
  type Pending,
  pendingKeys,
  readCondensed,
  readPending,
  type TranscriptPosition,
  type Unfinished,
  writeCondensed,
  writePending,
} from "../checkpoints/write/pending.ts";
import { enqueue, type QueuedSession } from "../checkpoints/write/queue.ts";
import {
  changedSince,
  type Head,
  isReplaying,
  readHead,
  type Staged,
  stagedChanges,
} from "../checkpoints/write/staged-changes.ts";
import { openObjects } from "../checkpoints/write/write.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { findWorkspace, isEnabled, type Workspace } from "../git/workspace.ts";
import { runningTurnFiles } from "../recording/claims.ts";
import { applyEvent } from "../recording/phase.ts";
import { loadSession, marked, type SessionState, saveSession } from "../recording/session/store.ts";
import { startWorker } from "../recording/start-worker.ts";
import { sessionLock } from "../steps/session-tree.ts";
import { ancestorsOf, argumentsOf, gitAbove } from "./ancestry.ts";
import type { Ask, messageWithOptionalTrailer } from "./confirm-link.ts";
import { type Intent, intentFile, readIntent, removeIntent } from "./intent.ts";

/** Set for our own hooks if a commit contains all changes of the turns to its files; other changes are the user's. */
export const WHOLE_TURNS = "BACKTRAIL_WHOLE_TURNS";

const LOCK_WAIT_MS = 1_000;

/** `args` are git's arguments for the hook; for prepare-commit-msg the caller's process id precedes them. */
export async function runGitHook(hook: string, args: readonly string[], ask: Ask): Promise<void> {
  if (hook === "commit-msg") return stripEmpty(args[0] ?? "");
  const workspace = findWorkspace(process.cwd());
  if (workspace?.kind !== "repository" || !isEnabled(workspace)) return;
  logTo(workspace.storeDir);
  const config = loadConfig(workspace);
  setLogLevel(config.log_level);
  if (!config.enabled) return;
  if (hook === "prepare-commit-msg") await prepare(workspace, config, args, ask);
  else if (hook === "post-commit") await commitMade(workspace, config);
}

async function prepare(workspace: Workspace, config: Config, args: readonly string[], ask: Ask): Promise<void> {
  const [caller = "", file = "", source = ""] = args;
  const pid = gitAbove(Number(caller));
  await finishCommit(workspace);
  removeFile(intentFile(workspace));
  if (config.commit_linking === "never" || isReplaying(workspace) || source === "merge" || file === "") return;
  const message = readFileSync(file, "utf8");
  // Only its message identifies a revert without conflicts.
  if (/^This reverts commit [0-9a-f]{7,64}/m.test(message)) return;
  if (source === "squash") {
    const quoted = checkpointsIn(message).filter((id) => !linkedIn(message).includes(id));
    if (quoted.length > 0) return writeFileAtomic(file, withCheckpoints(message, quoted), { mode: 0o644 });
  }
  const replaced = await linksOfReplaced(workspace, message);
  const sessions = await concerned(workspace, pid);
  const inherited = linkedIn(message).at(-1) ?? (await amended(workspace, pid, source));
  const checkpoint = inherited ?? (sessions.length > 0 ? newCheckpointId() : undefined);
  if (checkpoint === undefined) {
    if (replaced.length > 0) writeFileAtomic(file, withCheckpoints(message, replaced), { mode: 0o644 });
    return;
  }
  if (sessions.length > 0) {
    const head = (await readHead(workspace))?.commit ?? null;
    writeJson(intentFile(workspace), { v: 1, checkpoint, head, sessions } satisfies Intent);
    faultPoint("commit:intent");
  }
  const linked = replaced.length > 0 ? withCheckpoints(message, replaced) : message;
  const text = linkedIn(linked).includes(checkpoint)
    ? linked
    : config.commit_linking === "prompt" && inherited === undefined
      ? await offered(workspace, { message: linked, checkpoint, pid, ask })
      : withCheckpoints(linked, [checkpoint]);
  if (text !== message) writeFileAtomic(file, text, { mode: 0o644 });
}

/** Loads the module only if git has left a trace of a squash or a reset. */
async function linksOfReplaced(workspace: Workspace, message: string): Promise<string[]> {
  const signs = ["SQUASH_MSG", "ORIG_HEAD"].map((name) => join(workspace.gitDir, name));
  if (!signs.some(existsSync)) return [];
  return (await import("./inherited-links.ts")).inheritedLinks(workspace, message);
}

/** Loads the module only for `commit_linking: prompt`, which few users set. */
async function offered(...args: Parameters<typeof messageWithOptionalTrailer>): Promise<string> {
  return (await import("./confirm-link.ts")).messageWithOptionalTrailer(...args);
}

/** `--amend -m` replaces the message, but the amended commit keeps its checkpoint. */
async function amended(workspace: Workspace, pid: number, source: string): Promise<string | undefined> {
  if (source !== "message" || !argumentsOf(pid).includes("--amend")) return undefined;
  return (await readHead(workspace))?.linked.at(-1);
}

/** Finds the sessions that contributed: by their uncommitted files, and by the changes of running turns. */
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
  // After an auto-commit, the remaining changes to these files are the user's.
  const isWhole = process.env[WHOLE_TURNS] === "1";
  return [...found].map(([key, paths]) => {
    const files = [...paths].sort();
    return { key, files, left: isWhole ? [] : files.filter((path) => staged.leftOver.has(path)) };
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
  using objects = openObjects(workspace);
  const changes = new Map<RunningTurn, RunningChanges>();
  for (const turn of running) {
    const before = turn.state.openTurn?.work;
    const changed = before ? await changedSince(objects.trees, before, staged) : [...staged.blobs.keys()];
    changes.set(turn, { changed, reported: written.get(turn.key) ?? new Set() });
  }
  const files = filesOfRunning(
    [...changes.values()],
    committing.flatMap((turn) => changes.get(turn) ?? []),
  );
  for (const [turn, own] of changes) {
    const paths = files.get(own) ?? [];
    if (paths.length === 0 && !committing.includes(turn)) continue;
    found.set(turn.key, new Set([...(found.get(turn.key) ?? []), ...paths]));
  }
}

/** Empty for a single running turn, which owns every change, so no transcript needs to be read. */
async function writtenBy(workspace: Workspace, running: readonly RunningTurn[]): Promise<Map<string, Set<string>>> {
  const written = new Map<string, Set<string>>();
  if (running.length < 2) return written;
  for (const { key } of running) written.set(key, new Set(await runningTurnFiles(workspace, key)));
  return written;
}

/** Finishes a commit whose post-commit hook was killed or never ran. */
export async function finishCommit(workspace: Workspace): Promise<void> {
  if (workspace.kind !== "repository" || !existsSync(intentFile(workspace))) return;
  const intent = readIntent(workspace);
  const head = intent && (await readHead(workspace));
  // HEAD may have moved for another reason after an aborted commit: only the trailer proves that the commit exists.
  if (head?.linked.includes(intent?.checkpoint ?? "")) await commitMade(workspace, loadConfig(workspace));
  else if (!intent) removeFile(intentFile(workspace));
  else if (head?.commit !== intent.head) removeIntent(workspace, intent);
}

/**
 * Hook and worker may both find a commit to finish. The one without the lock leaves the commit to the other: if that
 * one is killed, the intent stays for the next.
 */
async function commitMade(workspace: Workspace, config: Config): Promise<void> {
  const lock = await acquire(`${intentFile(workspace)}.lock`, LOCK_WAIT_MS);
  if (!lock) return;
  try {
    await finishIntent(workspace, config);
  } finally {
    lock.release();
  }
}

/** Writes the queue first and removes the intent last, so that a killed run can be repeated with the same result. */
async function finishIntent(workspace: Workspace, config: Config): Promise<void> {
  const intent = readIntent(workspace);
  const head = intent && (await readHead(workspace));
  if (!intent) return removeFile(intentFile(workspace));
  if (!head || head.commit === intent.head) return removeIntent(workspace, intent);
  faultPoint("commit:made");
  const locks = new Map<string, Lock | undefined>();
  try {
    const parts: CommitPart[] = [];
    for (const { key } of intent.sessions) locks.set(key, await acquire(sessionLock(workspace, key), LOCK_WAIT_MS));
    for (const session of intent.sessions) {
      const state = loadSession(workspace, session.key);
      if (state) parts.push(partOf(workspace, intent, head, session, state));
    }
    // If the user removed the trailer, there is no checkpoint, but the files are still committed.
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
    removeIntent(workspace, intent);
    if (isLinked) startWorker(workspace);
  } finally {
    for (const lock of locks.values()) lock?.release();
  }
}

/** One session's part in a commit: the queued part for the checkpoint, and the remainder for the next commit. */
interface CommitPart {
  key: string;
  state: SessionState;
  queued: QueuedSession;
  pending: Omit<Pending, "v">;
  /** Used if the commit is linked: includes this checkpoint while its turn still runs. */
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
  // An amended commit keeps its checkpoint, with the files that it already had.
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
      // A running turn belongs to this checkpoint, which is completed when the turn ends.
      since: rest.length === 0 ? until : condensed.since,
      last: { checkpoint, since, files: all },
    },
  };
}

export function queuedSession(
  key: string,
  { agent, id, model, transcript }: SessionState,
  files: string[],
  since: TranscriptPosition,
  until: TranscriptPosition,
): QueuedSession {
  return { key, agent, id, model, files, since, until, transcriptPath: transcript?.path ?? null };
}

export function momentOf({ turn, transcript }: SessionState): TranscriptPosition {
  return { turn, generation: transcript?.generation ?? 0, offset: transcript?.stored ?? 0 };
}

function movePhase(workspace: Workspace, state: SessionState): void {
  const before = state.phase;
  applyEvent(state, "GitCommit");
  if (state.phase === before) return;
  state.revision++;
  saveSession(workspace, state);
}

/** git aborts a commit with an empty message, so a message of only our trailer must become empty. */
function stripEmpty(file: string): void {
  const message = readFileSync(file, "utf8");
  if (isOtherwiseEmpty(message)) writeFileAtomic(file, withoutCheckpoints(message), { mode: 0o644 });
}
