/**
 * Letting go of what is past its time: steps by age and size (`steps/retention.ts`), and by age alone whatever else holds
 * conversations or copies: imported sessions, transcripts that OpenCode's plugin wrote, what other agents were told, files that
 * restores kept, commits of forks that were dropped, and what is known of sessions without steps. Every part can be killed and
 * done again.
 */
import { lstatSync, rmSync } from "node:fs";
import { join } from "node:path";
import { now } from "../base/clock.ts";
import { namesIn, readText, writeFileAtomic } from "../base/files.ts";
import { sessionKey } from "../base/ids.ts";
import { log } from "../base/log.ts";
import { dropImported, importedSessions } from "../checkpoints/imported.ts";
import { loadConfig } from "../config/load.ts";
import { gitLocation } from "../git/location.ts";
import { compareAndSwapRef, readRef } from "../git/refs.ts";
import { gitText, tryGit } from "../git/run.ts";
import type { Workspace } from "../git/workspace.ts";
import { DROPPED_REFS, listForks } from "../steps/forks.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import { dropSteps, ownerKey, type Pruning, planPruning, type Retention } from "../steps/retention.ts";
import { isAlive } from "./dead-turns.ts";
import { forgetSessionFiles } from "./session-files.ts";
import { listSessions } from "./session-state.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** What a restore found in its way is nowhere else: it stays at least so long. */
const KEPT_DAYS = 90;

export interface Expired {
  kind: "imported" | "transcript" | "hand-over" | "kept" | "commits" | "session";
  /** A session's id, a ref, or the path of a file or directory. */
  name: string;
  since: string;
  bytes: number;
}

export interface LettingGo extends Pruning {
  others: Expired[];
}

/** Changes nothing but the object store, where a few trees that nothing refers to may be added. */
export async function planLettingGo(workspace: Workspace, retention: Retention): Promise<LettingGo> {
  const pruning = await planPruning(workspace, retention);
  const gone = new Set(pruning.steps.map(({ id }) => id));
  const alive = new Set<string>();
  for (const step of stepsNewestFirst(workspace)) if (!gone.has(step.id)) alive.add(ownerKey(step));
  const before = momentAgo(retention.days);
  return {
    ...pruning,
    others: [
      ...(await expiredImports(workspace, before)),
      ...expiredTranscripts(workspace, before),
      ...expiredHandOvers(workspace, before),
      ...expiredKept(workspace, momentAgo(Math.max(KEPT_DAYS, retention.days))),
      ...(await expiredCommits(workspace, before)),
      ...expiredSessions(workspace, before, alive),
    ],
  };
}

export async function letGo(workspace: Workspace, { steps, others }: LettingGo): Promise<void> {
  await dropSteps(workspace, steps);
  for (const { kind, name } of others) {
    if (kind === "imported") await dropImported(workspace, name);
    else if (kind === "session") forgetSessionFiles(workspace, name);
    else if (kind === "commits") await compareAndSwapRef(workspace, name, await readRef(workspace, name), null);
    else rmSync(name, { recursive: true, force: true });
  }
}

/** The worker's: once a day is enough for what is kept for weeks. */
export async function pruneSometimes(workspace: Workspace): Promise<void> {
  const { retention } = loadConfig(workspace.root);
  const last = lastPruned(workspace);
  const sinceMs = now().getTime() - last;
  // A stamp from the future is one of a clock that has been put right since.
  if (sinceMs >= 0 && sinceMs < DAY_MS) return;
  writeFileAtomic(stampFile(workspace), `${now().toISOString()}\n`);
  // A clock that jumps ahead makes everything old at once. After so long a pause one more day does no harm.
  if (last > 0 && sinceMs > (retention.days * DAY_MS) / 2) {
    log("info", "pruning", `Nothing was let go of since ${new Date(last).toISOString()}: it waits one more day.`);
    return;
  }
  const plan = await planLettingGo(workspace, { days: retention.days, maxSize: retention.max_size });
  await letGo(workspace, plan);
  if (plan.steps.length > 0) await freeRoom(workspace);
}

/** Nobody else runs git in a private store. A day is far longer than any save takes. In a repository it is git's own affair. */
export async function freeRoom(workspace: Workspace): Promise<void> {
  if (workspace.kind === "repository") return;
  const { args, cwd } = gitLocation(workspace);
  await tryGit([...args, "gc", "--quiet", "--prune=1.day.ago"], { cwd, timeoutMs: 600_000 });
}

async function expiredImports(workspace: Workspace, before: string): Promise<Expired[]> {
  return (await importedSessions(workspace))
    .filter(({ importedAt }) => importedAt < before)
    .map(({ agent, session, importedAt, size }) => ({
      kind: "imported",
      name: sessionKey(agent, session),
      since: importedAt,
      bytes: size,
    }));
}

/** The plugin writes one again, whole, when its session goes on. */
function expiredTranscripts({ storeDir }: Workspace, before: string): Expired[] {
  return entriesOf(join(storeDir, "opencode"), "transcript").filter(({ since }) => since < before);
}

/** One that a fork's conversation begins with stays as long as the fork. */
function expiredHandOvers(workspace: Workspace, before: string): Expired[] {
  const inUse = new Set(listForks(workspace).flatMap(({ chat }) => chat?.file ?? []));
  const all = entriesOf(join(workspace.storeDir, "hand-over"), "hand-over");
  return all.filter(({ name, since }) => since < before && !inUse.has(name));
}

/** The files of a dropped fork's last state are a step of their own, with a name: this is its history. */
async function expiredCommits(workspace: Workspace, before: string): Promise<Expired[]> {
  const { args, cwd } = gitLocation(workspace);
  const refs = await gitText([...args, "for-each-ref", "--format=%(refname)", DROPPED_REFS], { cwd });
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
    return [{ kind, name: path, since: stat.mtime.toISOString(), bytes: sizeOf(path) }];
  });
}

export function sizeOf(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.size ?? 0;
  return namesIn(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

function momentAgo(days: number): string {
  return new Date(now().getTime() - days * DAY_MS).toISOString();
}

/** 0 where nothing was ever pruned. Older versions wrote no time into the file, but its own says it too. */
function lastPruned(workspace: Workspace): number {
  const written = Date.parse(readText(stampFile(workspace))?.trim() ?? "");
  if (!Number.isNaN(written)) return written;
  return lstatSync(stampFile(workspace), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function stampFile({ storeDir }: Workspace): string {
  return join(storeDir, "pruned");
}
