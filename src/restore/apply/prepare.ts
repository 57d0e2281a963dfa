/** Prepares a restore without touching the user's files: staged files, the fork's content, the journal. */

import { accessSync, constants, statfsSync } from "node:fs";
import { now } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";
import { makeDirectory } from "../../base/fs/files.ts";
import { directoriesAbove, onDisk, parentOf } from "../../base/fs/path-bytes.ts";
import { EXECUTABLE_MODE, SYMLINK_MODE } from "../../git/objects/trees.ts";
import { DetailWriter } from "../../git/snapshot/details.ts";
import type { Capture, Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { type Fork, prepareFork, stageFork } from "../conversation/fork.ts";
import { openSessionNotice, undoNotice } from "../conversation/notices.ts";
import type { RestoreNote } from "../notes.ts";
import type { PreparedPlan } from "../plan/plan.ts";
import { RestoreError } from "../problems.ts";
import type { FilePlan, RestorePlan } from "../types.ts";
import { stagedFork } from "./apply.ts";
import { failure } from "./errors.ts";
import type { Held } from "./held.ts";
import { type Journal, restoreDirectory } from "./journal.ts";
import { safeStat } from "./move.ts";
import { permissionsAfter, setMode } from "./move-files.ts";
import type { RestoreRecord } from "./restore-log.ts";
import { stagedPlace, stageNumbered, stagingDirectory } from "./stage.ts";

export interface Prepared {
  id: string;
  savedAt: number;
  present: Snapshot;
  held: Held;
  safety: Step;
  drawn: PreparedPlan;
  placed: string[];
}

export interface Ready {
  journal: Journal;
  /** Notes for the user about the agent's undo notice. */
  notes: RestoreNote[];
}

/** Stages the files, as git writes them, next to the future journal. Returns the content id of each. */
export async function stageFiles(
  workspace: Workspace,
  capture: Capture,
  id: string,
  drawn: PreparedPlan,
): Promise<string[]> {
  const directory = restoreDirectory(workspace, id);
  makeDirectory(directory);
  const { files, tree, attributesStay, lineEnds } = drawn;
  if (files.write.length === 0) return [];
  const rules = { present: attributesStay ? capture.rules() : undefined, lineEnds };
  return stageNumbered(workspace, capture, tree, files.write, stagingDirectory(directory), rules);
}

/** Prepares the rest after the files are staged: the fork's content and the journal. */
export async function prepare(workspace: Workspace, from: Prepared): Promise<Ready> {
  const { id, drawn, savedAt, present, held, placed } = from;
  const { plan, files, index, tree } = drawn;
  const directory = restoreDirectory(workspace, id);
  const account = plan.options.tellAgent ? undoNotice(plan) : null;
  const found = plan.chat.kind === "fork" ? await prepareFork(workspace, plan.chat.step, undefined, account) : null;
  const fork = found && !("kind" in found) ? found : null;
  if (fork) stageFork(stagedFork(directory), fork);
  else if (found && "kind" in found) plan.chat = { kind: "none", reason: found };
  const journal: Journal = {
    v: 3,
    id,
    record: { ...recordOf(from, fork), ...wroteOf(workspace, drawn) },
    tree,
    safety: [{ work: present.work, raw: present.raw, held }],
    savedAt,
    files,
    placed,
    modes: modesOf(workspace, files),
    ...noticeFor(plan),
    index,
    head: plan.head && { ...plan.head, message: `backtrail: ${plan.kind}` },
    chat: chatOf(plan, fork),
  };
  keepPermissions(workspace, directory, journal);
  return { journal, notes: account === null ? [] : [noticeNote(fork, account)] };
}

/** Open sessions need a notice only if files or the branch change. */
function noticeFor(plan: RestorePlan): Pick<Journal, "notice"> {
  const changes = plan.write.length + plan.delete.length + plan.chmod.length;
  if (plan.kind === "fork" || (changes === 0 && plan.head === null)) return {};
  return { notice: openSessionNotice(plan) };
}

/** git stores only the executable bit. The other bits come from the step or from the replaced file. */
function keepPermissions(workspace: Workspace, directory: string, journal: Journal): void {
  const mask = keptMask(directory, journal);
  for (const [n, { path, entry, permissions }] of journal.files.write.entries()) {
    const isExecutable = entry.mode === EXECUTABLE_MODE;
    let wanted = permissions;
    if (wanted === undefined && entry.mode !== SYMLINK_MODE) {
      const replaced = safeStat(onDisk(workspace.root, path));
      if (replaced?.isFile()) wanted = permissionsAfter(Number(replaced.mode), isExecutable);
    }
    const isThere = mask !== null && wanted === createdMode(isExecutable, mask);
    if (wanted !== undefined && !isThere) setMode(stagedPlace(directory, journal, n), wanted);
  }
}

function createdMode(isExecutable: boolean, mask: number): number {
  return (isExecutable ? 0o777 : 0o666) & ~mask;
}

/** The umask, if staged files have the mode that it leaves, as the first one tells; else null (access control lists). */
function keptMask(directory: string, journal: Journal): number | null {
  const mask = process.umask();
  const first = journal.files.write.findIndex(({ entry }) => entry.mode !== SYMLINK_MODE);
  const stat = first === -1 ? undefined : safeStat(stagedPlace(directory, journal, first));
  const isExecutable = journal.files.write[first]?.entry.mode === EXECUTABLE_MODE;
  return stat && (Number(stat.mode) & 0o7777) === createdMode(isExecutable, mask) ? mask : null;
}

function noticeNote(fork: Fork | null, notice: string): RestoreNote {
  return fork?.told ? { kind: "agent-notified" } : { kind: "agent-not-notified", notice };
}

function chatOf(plan: RestorePlan, fork: Fork | null): Journal["chat"] {
  if (fork) {
    const { agent, session, transcript, command, start, root } = fork;
    return { agent, session, transcript, command, ...(start && { start }), root, written: true };
  }
  if (plan.chat.kind !== "resume") return null;
  const { kind: _, ...chat } = plan.chat;
  return { ...chat, root: "", written: false };
}

function recordOf({ id, drawn, safety }: Prepared, fork: Fork | null): RestoreRecord {
  const { kind, options, takesBack, head } = drawn.plan;
  const { session, agent, transcript } = safety;
  const some = options.paths !== undefined && options.paths.length > 0;
  return {
    v: 1,
    id,
    kind,
    time: now().toISOString(),
    target: recordedTarget(drawn.plan),
    safetyStep: safety.id,
    session:
      session !== null && agent !== null && transcript ? { agent, id: session, transcript: transcript.path } : null,
    fork: fork && { agent: fork.agent, id: fork.session, transcript: fork.transcript },
    head: head?.from ?? null,
    takesBack,
    paths: some ? [...(options.paths ?? [])] : null,
    scope: options.chatOnly ? "chat" : some ? "paths" : options.codeOnly ? "code" : "all",
    ...mergedOf(drawn.plan),
  };
}

/** Undo and take record their merge in the target. */
function mergedOf({ options, merge, takesBack }: RestorePlan): Pick<RestoreRecord, "merged"> {
  return merge && (options.keepMine || takesBack !== null)
    ? { merged: { changes: merge.changes, markers: merge.markers } }
    : {};
}

/** Not recorded for a fork, because creating a fork's files is never reverted. */
function wroteOf(workspace: Workspace, { plan, files }: PreparedPlan): Pick<RestoreRecord, "wrote"> {
  if (plan.kind === "fork" || files.write.length === 0) return {};
  const details = new DetailWriter(workspace);
  const wrote = details.add(JSON.stringify(files.write.map(({ path }) => path)));
  details.flush();
  return { wrote };
}

function recordedTarget({ target, merge }: RestorePlan): RestoreRecord["target"] {
  if (target.kind === "step") return { step: target.step.id };
  if (target.kind === "commit") return { commit: target.commit };
  const turns = target.turns.map(({ agent, session, turn, subagent }) => ({ agent, session, turn, subagent }));
  return { turns, changes: merge?.changes ?? [], markers: merge?.markers ?? false };
}

/** Current modes of paths to chmod and of directories that a rollback may have to recreate. */
function modesOf(workspace: Workspace, { chmod, directories = [], delete: removed }: FilePlan): Record<string, number> {
  const modes: Record<string, number> = Object.create(null);
  const above = directoriesAbove(removed);
  above.delete(".");
  for (const path of new Set([...[...chmod, ...directories].map((planned) => planned.path), ...above])) {
    const stat = safeStat(onDisk(workspace.root, path));
    if (stat) modes[stat.isDirectory() ? `${path}/` : path] = Number(stat.mode) & 0o7777;
  }
  return modes;
}

/** Detects in advance what would fail halfway: unwritable directories, a full disk. */
export function checkAccess(workspace: Workspace, journal: Journal): void {
  const { files, id } = journal;
  const checked = new Set<string>();
  for (const path of [...files.delete, ...files.write.map((write) => write.path)]) {
    let directory = parentOf(path);
    if (checked.has(directory)) continue;
    while (directory !== "." && !safeStat(onDisk(workspace.root, directory))?.isDirectory())
      directory = parentOf(directory);
    if (checked.has(directory)) continue;
    checked.add(directory);
    try {
      accessSync(
        directory === "." ? workspace.root : onDisk(workspace.root, directory),
        constants.W_OK | constants.X_OK,
      );
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      throw failure(path, error);
    }
  }
  // On the same file system, applying only moves files and needs no space.
  if (safeStat(workspace.root)?.dev === safeStat(workspace.stateDir)?.dev) return;
  let bytes = 0n;
  const restore = restoreDirectory(workspace, id);
  for (const n of files.write.keys()) bytes += safeStat(stagedPlace(restore, journal, n))?.size ?? 0n;
  const { bavail, bsize } = statfsSync(workspace.root, { bigint: true });
  if (bavail * bsize < bytes) throw new RestoreError("failed", { kind: "no-space" });
}
