/** Makes a restore ready without touching anything of the user's: staged files, the fork's content, the journal. */
import { accessSync, type BigIntStats, constants, statfsSync } from "node:fs";
import { now } from "../base/clock.ts";
import { codeOf, UserError } from "../base/errors.ts";
import { makeDirectory } from "../base/files.ts";
import { onDisk, parentOf } from "../base/path-bytes.ts";
import type { Capture, Snapshot } from "../git/snapshot.ts";
import { EXECUTABLE_MODE, SYMLINK_MODE } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import type { Step } from "../steps/model.ts";
import { accountOf } from "./account.ts";
import { type Fork, prepareFork, stageFork } from "./chat.ts";
import type { DrawnUp } from "./draw-up.ts";
import { failure } from "./failure.ts";
import { permissionsAfter, setMode } from "./files.ts";
import { type Journal, restoreDirectory } from "./journal.ts";
import type { RewindPlan } from "./model.ts";
import { markOf, safeStat } from "./move.ts";
import { stagedFork } from "./perform.ts";
import type { RestoreRecord } from "./records.ts";
import { stagedPlace, stageNumbered, stagingDirectory } from "./stage.ts";

/** Files that changed this shortly before the safety step may have changed while it was taken. */
const RACY_MS = 2_000;

export interface Prepared {
  id: string;
  savedAt: number;
  present: Snapshot;
  safety: Step;
  drawn: DrawnUp;
}

export interface Ready {
  journal: Journal;
  /** Sentences for the user about what the agent will be told. */
  notes: string[];
}

/** Files as git writes them, beside where the journal will be. */
export async function stageFiles(workspace: Workspace, capture: Capture, id: string, drawn: DrawnUp): Promise<void> {
  const directory = restoreDirectory(workspace, id);
  makeDirectory(directory);
  const { files, tree, attributesStay } = drawn;
  if (files.write.length === 0) return;
  await stageNumbered(workspace, capture, tree, files.write, stagingDirectory(directory), attributesStay);
}

/** Makes everything else ready, once the files are staged: the fork's content, the journal. */
export async function prepare(workspace: Workspace, from: Prepared): Promise<Ready> {
  const { id, drawn, savedAt, present } = from;
  const { plan, files, index, tree } = drawn;
  const directory = restoreDirectory(workspace, id);
  const account = plan.options.tellAgent ? accountOf(plan) : null;
  const fork = plan.chat.kind === "fork" ? await prepareFork(workspace, plan.chat.step, undefined, account) : null;
  if (fork && typeof fork !== "string") stageFork(stagedFork(directory), fork);
  else if (typeof fork === "string") plan.chat = { kind: "none", why: fork };
  const paths = [...files.delete, ...files.write.map(({ path }) => path)];
  const standing = new Map(paths.map((path) => [path, safeStat(onDisk(workspace.root, path))]));
  const journal: Journal = {
    v: 2,
    id,
    record: recordOf(from, fork),
    tree,
    safety: [{ work: present.work, raw: present.raw }],
    savedAt,
    files,
    ...marksOf(standing, savedAt),
    modes: modesOf(
      workspace,
      files.chmod.map(({ path }) => path),
    ),
    index,
    head: plan.head && { ...plan.head, message: `backtrail: ${plan.kind}` },
    chat: chatOf(plan, fork),
  };
  keepPermissions(directory, journal, standing);
  return { journal, notes: account === null ? [] : [toldNote(fork, plan)] };
}

/** git knows one bit of a file's mode; who may read it is kept from the file that it replaces. */
function keepPermissions(
  directory: string,
  journal: Journal,
  standing: ReadonlyMap<string, BigIntStats | undefined>,
): void {
  const mask = process.umask();
  for (const [n, { path, entry }] of journal.files.write.entries()) {
    const replaced = standing.get(path);
    if (!replaced?.isFile() || entry.mode === SYMLINK_MODE) continue;
    const isExecutable = entry.mode === EXECUTABLE_MODE;
    const mode = permissionsAfter(Number(replaced.mode), isExecutable);
    if (mode !== ((isExecutable ? 0o777 : 0o666) & ~mask)) setMode(stagedPlace(directory, journal, n), mode);
  }
}

function toldNote(fork: Fork | string | null, plan: RewindPlan): string {
  if (fork && typeof fork !== "string" && fork.told) return "The conversation's copy ends with what was undone.";
  return `The agent can't be told by itself here. What to paste when you go on:\n\n${accountOf(plan)}\n`;
}

function chatOf(plan: RewindPlan, fork: Fork | string | null): Journal["chat"] {
  if (fork && typeof fork !== "string") {
    const { agent, session, transcript, command, root } = fork;
    return { agent, session, transcript, command, root, written: true };
  }
  if (plan.chat.kind !== "resume") return null;
  const { agent, session, transcript, command } = plan.chat;
  return { agent, session, transcript, command, root: "", written: false };
}

function recordOf({ id, drawn, safety }: Prepared, fork: Fork | string | null): RestoreRecord {
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
    fork: fork && typeof fork !== "string" ? { agent: fork.agent, id: fork.session } : null,
    head: head?.from ?? null,
    takesBack,
    paths: some ? [...(options.paths ?? [])] : null,
    scope: options.chatOnly ? "chat" : some ? "paths" : options.codeOnly ? "code" : "all",
  };
}

function recordedTarget({ target, merge }: RewindPlan): RestoreRecord["target"] {
  if (target.kind === "step") return { step: target.step.id };
  if (target.kind === "commit") return { commit: target.commit };
  const turns = target.turns.map(({ agent, session, turn, subagent }) => ({ agent, session, turn, subagent }));
  return { turns, changes: merge?.changes ?? [], markers: merge?.markers ?? false };
}

function marksOf(
  standing: ReadonlyMap<string, BigIntStats | undefined>,
  savedAt: number,
): Pick<Journal, "marks" | "late"> {
  const marks: Record<string, string> = Object.create(null);
  const late: string[] = [];
  for (const [path, stat] of standing) {
    if (!stat) continue;
    marks[path] = markOf(stat);
    const newest = stat.ctimeMs > stat.mtimeMs ? stat.ctimeMs : stat.mtimeMs;
    if (Number(newest) >= savedAt - RACY_MS) late.push(path);
  }
  return { marks, late };
}

function modesOf(workspace: Workspace, paths: readonly string[]): Record<string, number> {
  const modes: Record<string, number> = Object.create(null);
  for (const path of paths) {
    const stat = safeStat(onDisk(workspace.root, path));
    if (stat) modes[path] = Number(stat.mode) & 0o7777;
  }
  return modes;
}

/** Finds out beforehand what would fail halfway: directories that can't be written, a disk without room. */
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
  // On the same file system everything is only moved from here on.
  if (safeStat(workspace.root)?.dev === safeStat(workspace.stateDir)?.dev) return;
  let bytes = 0n;
  const restore = restoreDirectory(workspace, id);
  for (const n of files.write.keys()) bytes += safeStat(stagedPlace(restore, journal, n))?.size ?? 0n;
  const { bavail, bsize } = statfsSync(workspace.root, { bigint: true });
  if (bavail * bsize < bytes)
    throw new UserError(
      "failed",
      "There is not enough room on the disk for the files to restore.",
      "Free some space, then try again.",
    );
}
