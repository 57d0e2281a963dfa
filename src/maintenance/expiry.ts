/**
 * Expires steps by age and size (`steps/upkeep/retention.ts`), and by age alone everything else that holds
 * conversations or copies: imported sessions, transcripts of OpenCode's plugin, handoffs, files that restores kept,
 * commits of dropped forks, and the state of sessions without steps. Every part can be killed and repeated.
 */

import { lstatSync, rmSync } from "node:fs";
import { join } from "node:path";
import { STORE_FOLDERS } from "../agents/registry/packaged.ts";
import { now } from "../base/clock.ts";
import { namesIn, readText, writeFileAtomic } from "../base/fs/files.ts";
import { tryAcquire } from "../base/fs/lock.ts";
import { sizeOnDisk } from "../base/fs/tree-size.ts";
import { sessionKey } from "../base/ids.ts";
import { log } from "../base/log.ts";
import { dropImported, importedDirectory, importedKeys, importedSessions } from "../checkpoints/import/store.ts";
import { type Config, loadSettings, ownFile, type SettingProblem, userFile } from "../config/load.ts";
import { gitIn } from "../git/git.ts";
import { tidyPrivateObjects } from "../git/private/upkeep.ts";
import { compareAndSwapRef, readRef } from "../git/refs.ts";
import { removeUnusedDetails } from "../git/snapshot/details.ts";
import type { Workspace } from "../git/workspace.ts";
import { isAlive } from "../recording/orphaned-turns.ts";
import { NOTICE_DAYS } from "../recording/restore-notices.ts";
import { forgetSessionFiles } from "../recording/session/files.ts";
import { listSessions, NOTICES } from "../recording/session/store.ts";
import { conversationDirectory, conversationKeys, removeConversation } from "../steps/conversation/files.ts";
import { joinConversations } from "../steps/conversation/join.ts";
import { isKept, lastKeptTime } from "../steps/conversation/kept.ts";
import { DROPPED_REFS, listForks } from "../steps/forks.ts";
import { stepsIn } from "../steps/log.ts";
import { sessionRoots } from "../steps/session-refs.ts";
import { sessionLock, sessionRef } from "../steps/session-tree.ts";
import { tidyOldObjects } from "../steps/upkeep/old-objects.ts";
import { dropSteps, ownerKey, type Pruning, planPruning, type Retention } from "../steps/upkeep/retention.ts";
import { migrateStore } from "./migration.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** The minimum lifetime of files that a restore kept: they exist nowhere else. */
const KEPT_DAYS = 90;

export interface Expired {
  kind:
    | "imported"
    | "conversation"
    | "old-conversation"
    | "transcript"
    | "hand-over"
    | "kept"
    | "notice"
    | "commits"
    | "session";
  /** A session's key, a ref, or the path of a file or directory. */
  name: string;
  since: string;
  bytes: number;
}

/** Limits of steps, and of conversations: their bytes, including those that have outlived their steps. */
export interface ExpiryLimits extends Retention {
  conversations: number;
}

export interface ExpiryPlan extends Pruning {
  others: Expired[];
  /** All conversations before anything is deleted. */
  conversations: { sessions: number; bytes: number; limit: number };
}

/** Changes nothing, except that it may add a few unreferenced trees to the object store. */
export async function planExpiry(workspace: Workspace, retention: ExpiryLimits): Promise<ExpiryPlan> {
  const pruning = await planPruning(workspace, { ...retention, needed: neededByRestores(workspace) });
  const gone = new Set(pruning.steps.map(({ id }) => id));
  const alive = new Set<string>();
  for (const step of stepsIn(workspace).newestFirst()) if (!gone.has(step.id)) alive.add(ownerKey(step));
  const before = momentAgo(retention.days);
  const conversations = measured(workspace);
  const oldConversations = await expiredConversations(workspace, conversations, before, retention.conversations);
  // Search finds a kept conversation by its session. Those that lose their last step now will be kept as well.
  const willBeKept = retention.conversations > 0 ? new Set(pruning.steps.map(ownerKey)) : new Set<string>();
  const expired = new Set(oldConversations.map(({ name }) => name));
  for (const { name } of conversations)
    if ((isKept(workspace, name) || willBeKept.has(name)) && !expired.has(name)) alive.add(name);
  return {
    ...pruning,
    conversations: {
      sessions: conversations.length,
      bytes: conversations.reduce((sum, { bytes }) => sum + bytes, 0),
      limit: retention.conversations,
    },
    others: [
      ...(await expiredImports(workspace, before)),
      ...oldConversations,
      ...expiredTranscripts(workspace, before),
      ...expiredHandOvers(workspace, before),
      ...expiredKept(workspace, momentAgo(Math.max(KEPT_DAYS, retention.days))),
      ...expiredNotices(workspace, momentAgo(NOTICE_DAYS)),
      ...(await expiredCommits(workspace, before)),
      ...expiredSessions(workspace, before, alive),
    ],
  };
}

export async function expire(workspace: Workspace, { steps, others, conversations }: ExpiryPlan): Promise<void> {
  await dropSteps(workspace, steps, conversations.limit > 0 ? "keep" : "drop");
  dropUnusedDetails(workspace);
  for (const { kind, name } of others) {
    if (kind === "imported") await dropImported(workspace, name);
    else if (kind === "conversation" || kind === "old-conversation") await dropConversation(workspace, name);
    else if (kind === "session") forgetSessionFiles(workspace, name);
    else if (kind === "commits") await compareAndSwapRef(workspace, name, await readRef(workspace, name), null);
    else rmSync(name, { recursive: true, force: true });
  }
}

/** Deletes details that no step and no restore refers to. */
function dropUnusedDetails(workspace: Workspace): void {
  const used = new Set<string | null | undefined>();
  for (const { snapshot } of stepsIn(workspace).newestFirst())
    used.add(snapshot.ignore).add(snapshot.permissions).add(snapshot.ignoredFiles);
  const restores = listsOfRestores(workspace);
  removeUnusedDetails(workspace, (id) => used.has(id) || restores.some((text) => text.includes(id)));
}

/** The trees that undos used: reverting an undo merges these trees again. */
export function neededByRestores(workspace: Workspace): Set<string> {
  const trees = new Set<string>();
  for (const text of listsOfRestores(workspace))
    for (const [, tree = ""] of text.matchAll(/"work":"([0-9a-f]{40,64})"/g)) trees.add(tree);
  return trees;
}

/** The restore logs of every work tree. */
function listsOfRestores({ storeDir }: Workspace): string[] {
  const worktrees = join(storeDir, "worktrees");
  return namesIn(worktrees).map((name) => readText(join(worktrees, name, "restores.jsonl")) ?? "");
}

export function limitsOf(retention: Config["retention"]): ExpiryLimits {
  return { days: retention.days, maxSize: retention.max_size, conversations: retention.conversations };
}

/** The worker's task: runs once a day, which is enough for data that is kept for weeks. */
export async function expireIfDue(workspace: Workspace): Promise<void> {
  const { config, problems } = loadSettings(workspace);
  const { retention } = config;
  const last = lastPruned(workspace);
  const sinceMs = now().getTime() - last;
  // A timestamp in the future comes from a clock that has since been corrected.
  if (sinceMs >= 0 && sinceMs < DAY_MS) return;
  writeFileAtomic(stampFile(workspace), `${now().toISOString()}\n`);
  // The user's limits may be in a damaged settings file; the default limits could delete too much.
  const unknown = problems.find((problem) => hidesRetention(workspace, problem));
  if (unknown) {
    log("warn", "pruning", `Nothing was pruned: ${unknown.from}: ${JSON.stringify(unknown.defect)}`);
    return;
  }
  // If the clock jumps ahead, everything seems old at once. After such a long pause, wait one more day.
  const known = last > 0 ? last : storeMade(workspace);
  if (known > 0 && now().getTime() - known > (retention.days * DAY_MS) / 2) {
    log("info", "pruning", `Nothing was deleted since ${new Date(known).toISOString()}: it waits one more day.`);
    return;
  }
  await migrateStore(workspace);
  await tidyOldObjects(workspace);
  const plan = await planExpiry(workspace, limitsOf(retention));
  await expire(workspace, plan);
  joinConversations(workspace);
  if (plan.steps.length > 0) await collectGarbage(workspace);
}

function hidesRetention(workspace: Workspace, { from, key }: SettingProblem): boolean {
  return (from === userFile() || from === ownFile(workspace)) && (key === null || key.startsWith("retention"));
}

/** Prunes unreferenced objects older than a day, far longer than a save takes. Leaves the user's repository to git. */
export async function collectGarbage(workspace: Workspace): Promise<void> {
  if (workspace.kind === "repository") return tidyPrivateObjects(workspace);
  await gitIn(workspace).try(["gc", "--quiet", "--prune=1.day.ago"], { timeoutMs: 600_000 });
}

/** Imports expire by import time; leftovers of a killed import expire by modification time. */
async function expiredImports(workspace: Workspace, before: string): Promise<Expired[]> {
  const sessions = await importedSessions(workspace);
  const imports = sessions.map(
    ({ agent, session, importedAt, size }): Expired => ({
      kind: "imported",
      name: sessionKey(agent, session),
      since: importedAt,
      bytes: size,
    }),
  );
  const known = new Set(imports.map(({ name }) => name));
  const left = importedKeys(workspace).filter((key) => !known.has(key));
  return [...imports, ...left.flatMap((key) => writtenAt("imported", key, importedDirectory(workspace, key)))].filter(
    ({ since }) => since < before,
  );
}

/**
 * Conversations without steps. Leftovers of a killed save expire by age; conversations that outlived their steps stay
 * within the limit, the oldest go first. A conversation with steps always stays, because a rewind needs it.
 */
async function expiredConversations(
  workspace: Workspace,
  all: readonly Expired[],
  before: string,
  limit: number,
): Promise<Expired[]> {
  const roots = await sessionRoots(workspace);
  const stepless = all.filter(({ name }) => !roots.has(name));
  const kept = stepless.filter(({ name }) => isKept(workspace, name));
  const expired = stepless.filter((each) => each.since < before && !kept.includes(each));
  let bytes = all.reduce((sum, conversation) => sum + conversation.bytes, 0);
  if (bytes <= limit) return expired;
  // By their last turn: the files of conversations that expired together have one time.
  const byAge = kept.map((each) => ({ ...each, since: lastKeptTime(workspace, each.name) ?? each.since }));
  for (const oldest of byAge.sort((a, b) => (a.since < b.since ? -1 : 1))) {
    if (bytes <= limit) break;
    bytes -= oldest.bytes;
    expired.push({ ...oldest, kind: "old-conversation" });
  }
  return expired;
}

function measured(workspace: Workspace): Expired[] {
  return conversationKeys(workspace).flatMap((key) =>
    writtenAt("conversation", key, conversationDirectory(workspace, key)),
  );
}

/** Skips a locked session, where another process may be saving a step, and one that got a step since the plan. */
async function dropConversation(workspace: Workspace, key: string): Promise<void> {
  const lock = tryAcquire(sessionLock(workspace, key));
  try {
    if (lock && (await readRef(workspace, sessionRef(key))) === null) removeConversation(workspace, key);
  } finally {
    lock?.release();
  }
}

function writtenAt(kind: Expired["kind"], name: string, directory: string): Expired[] {
  const newest = newestIn(directory);
  return newest === 0 ? [] : [{ kind, name, since: new Date(newest).toISOString(), bytes: sizeOnDisk(directory) }];
}

/** The newest modification time at or below `path`; 0 if it does not exist. */
function newestIn(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? 0;
  return namesIn(path).reduce((newest, name) => Math.max(newest, newestIn(join(path, name))), stat.mtimeMs);
}

/** The plugin rewrites the whole transcript when its session continues. */
function expiredTranscripts({ storeDir }: Workspace, before: string): Expired[] {
  const transcripts = STORE_FOLDERS.flatMap((folder) => entriesOf(join(storeDir, folder), "transcript"));
  return transcripts.filter(({ since }) => since < before);
}

/** Keeps a handoff as long as the fork whose conversation begins with it. */
function expiredHandOvers(workspace: Workspace, before: string): Expired[] {
  const inUse = new Set(listForks(workspace).flatMap(({ chat }) => chat?.file ?? []));
  const all = entriesOf(join(workspace.storeDir, "hand-over"), "hand-over");
  return all.filter(({ name, since }) => since < before && !inUse.has(name));
}

/** Commits of dropped forks. A named step holds the files of the fork's last state; this is only its history. */
async function expiredCommits(workspace: Workspace, before: string): Promise<Expired[]> {
  const refs = await gitIn(workspace).text(["for-each-ref", "--format=%(refname)", DROPPED_REFS]);
  return refs.split("\n").flatMap((name): Expired[] => {
    const day = /^\d{4}-\d\d-\d\d(?=\/)/.exec(name.slice(DROPPED_REFS.length))?.[0];
    if (day === undefined || day >= before.slice(0, 10)) return [];
    return [{ kind: "commits", name, since: `${day}T00:00:00.000Z`, bytes: 0 }];
  });
}

function expiredKept({ storeDir }: Workspace, before: string): Expired[] {
  const worktrees = entriesOf(join(storeDir, "worktrees"), "kept");
  return worktrees.flatMap(({ name }) => entriesOf(join(name, "kept"), "kept")).filter(({ since }) => since < before);
}

/** Notices that no prompt has delivered. */
function expiredNotices({ storeDir }: Workspace, before: string): Expired[] {
  const worktrees = entriesOf(join(storeDir, "worktrees"), "notice");
  return worktrees
    .flatMap(({ name }) => entriesOf(join(name, NOTICES), "notice"))
    .filter(({ since }) => since < before);
}

function expiredSessions(workspace: Workspace, before: string, alive: ReadonlySet<string>): Expired[] {
  return listSessions(workspace).flatMap((session): Expired[] => {
    const key = sessionKey(session.agent, session.id);
    if (alive.has(key) || session.updatedAt >= before || (session.openTurn && isAlive(session))) return [];
    return [{ kind: "session", name: key, since: session.updatedAt, bytes: 0 }];
  });
}

function entriesOf(directory: string, kind: Expired["kind"]): Expired[] {
  return namesIn(directory).flatMap((name) => {
    const path = join(directory, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) return [];
    return [{ kind, name: path, since: stat.mtime.toISOString(), bytes: sizeOnDisk(path) }];
  });
}

function momentAgo(days: number): string {
  return new Date(now().getTime() - days * DAY_MS).toISOString();
}

/** 0 if nothing was ever pruned. Falls back to the file's modification time for older versions. */
function lastPruned(workspace: Workspace): number {
  const written = Date.parse(readText(stampFile(workspace))?.trim() ?? "");
  if (!Number.isNaN(written)) return written;
  return lstatSync(stampFile(workspace), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** When recording was last enabled; replaces the timestamp until there is one. */
function storeMade({ storeDir }: Workspace): number {
  return lstatSync(join(storeDir, "store.json"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function stampFile({ storeDir }: Workspace): string {
  return join(storeDir, "pruned");
}
