/** Plans and applies a restore: a plan that touches nothing, then safety step, journal, and the restore itself. */

import { join } from "node:path";
import { faultPoint } from "../base/fault-point.ts";
import { newStepId } from "../base/ids.ts";
import { loadConfig } from "../config/load.ts";
import { type Capture, type Snapshot, startCapture } from "../git/snapshot/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import { captureOptions } from "../recording/dispatcher.ts";
import { saveStandaloneStep } from "../recording/save.ts";
import { perform } from "./apply/apply.ts";
import { holdFiles } from "./apply/held.ts";
import {
  isLocked,
  type Journal,
  journals,
  lockRestores,
  removeRestore,
  restoreDirectory,
  writeJournal,
} from "./apply/journal.ts";
import { markAt, safeStat } from "./apply/move.ts";
import { checkAccess, prepare, stageFiles } from "./apply/prepare.ts";
import { recordsFile, writtenBy } from "./apply/restore-log.ts";
import { resumeUnderLock } from "./apply/resume-interrupted.ts";
import { mergeKeepingMine } from "./changes/keep-mine.ts";
import { isSamePlan, PlanOutdated } from "./changes/same-plan.ts";
import { withTrees } from "./changes/with-trees.ts";
import type { RestoreNote } from "./notes.ts";
import { neededAndMissed } from "./plan/needed.ts";
import { withTouched } from "./plan/permissions.ts";
import { buildPlan, type PreparedPlan, type RestoreRequest } from "./plan/plan.ts";
import { prefetch } from "./plan/prefetch.ts";
import { RestoreError } from "./problems.ts";
import { isEmptyPlan, obstacles, type Receipt, type RestorePlan, type RewindOptions, type Target } from "./types.ts";

const MAX_LOOKS = 3;

export async function planRewind(
  workspace: Workspace,
  target: Target,
  options: RewindOptions = {},
): Promise<RestorePlan> {
  const { keepMine, markers = false, paths } = options;
  const merge = keepMine
    ? await withTrees(workspace, ({ trees }) => mergeKeepingMine(workspace, trees, target, { markers, paths }))
    : null;
  return planRestore(workspace, { kind: "rewind", target, options, takesBack: null, merge, chat: null });
}

export async function applyRewind(workspace: Workspace, plan: RestorePlan, agreed?: RestorePlan): Promise<Receipt> {
  return applyRestore(workspace, plan, agreed);
}

export async function planRestore(workspace: Workspace, request: RestoreRequest): Promise<RestorePlan> {
  const look = await inspect(workspace, request);
  cacheInspection(look);
  return look.drawn.plan;
}

/** A snapshot of the current state, and the plan based on it. */
interface Inspection {
  /** When the snapshot began, in milliseconds. */
  savedAt: number;
  /** Mark of the restore log at that time; null if a restore was running. */
  restores: string | null;
  capture: Capture;
  present: Snapshot;
  drawn: PreparedPlan;
  /** Builds the plan again for another snapshot. */
  drawAgain(present: Snapshot): Promise<PreparedPlan>;
}

async function inspect(
  workspace: Workspace,
  request: RestoreRequest,
  always: readonly string[] | null = null,
): Promise<Inspection> {
  const savedAt = Date.now();
  const restores = isLocked(workspace) ? null : restoresMark(workspace);
  const usual = captureOptions(loadConfig(workspace));
  const capture = startCapture(workspace, always === null ? usual : { ...usual, always });
  try {
    const looking = capture.finish();
    const ahead = prefetch(workspace, capture, looking, request);
    const present = await looking;
    const { trees, writer } = capture.scratch;
    const { details, reader, rules, seen } = capture;
    const ownWrites = writtenBy(workspace, request.takesBack);
    const missed = always === null ? await neededAndMissed(workspace, trees, present, request, ownWrites) : [];
    if (missed.length > 0) {
      capture.close();
      return await inspect(workspace, request, missed);
    }
    const objects = { trees, writer, reader, rules, details, seen, ahead, ownWrites };
    const drawAgain = (state: Snapshot) => buildPlan(workspace, objects, state, request);
    return { savedAt, restores, capture, present, drawn: await drawAgain(present), drawAgain };
  } catch (error) {
    capture.close();
    throw error;
  }
}

/**
 * A plan that is applied immediately (`--yes`) is not built twice: its snapshot becomes the safety step. Changes in
 * between are detected, because every file is read before it is touched. docs/design/plan-and-apply.md gives the
 * reasons for keeping the snapshot here and not in the plan.
 */
const AT_ONCE_MS = 250;
const inspections = new WeakMap<RestorePlan, Inspection>();

function cacheInspection(look: Inspection): void {
  inspections.set(look.drawn.plan, look);
  setTimeout(() => takeCached(look.drawn.plan)?.capture.close(), AT_ONCE_MS).unref();
}

function takeCached(plan: RestorePlan): Inspection | undefined {
  const look = inspections.get(plan);
  inspections.delete(plan);
  return look;
}

/**
 * Requires the lock. Discards the look if another restore ran since, or if the plan was shown to the user (`atOnce` is
 * false).
 */
function ifFresh(workspace: Workspace, look: Inspection | undefined, atOnce: boolean): Inspection | undefined {
  if (look && atOnce && look.restores !== null && look.restores === restoresMark(workspace)) return look;
  look?.capture.close();
  return undefined;
}

function restoresMark(workspace: Workspace): string {
  return markAt(recordsFile(workspace)) ?? "none";
}

/**
 * Builds the plan again from the safety step's snapshot, unless it is brand new: the plan shown to the user may be
 * minutes old, and a restore must not delete anything the safety step lacks. Throws `PlanOutdated` without any change
 * if the new plan differs from the agreed one.
 */
export async function applyRestore(workspace: Workspace, plan: RestorePlan, agreed?: RestorePlan): Promise<Receipt> {
  const lock = await lockRestores(workspace);
  try {
    const before = await resumeUnderLock(workspace);
    refuseUnfinished(workspace, before);
    const look = ifFresh(workspace, takeCached(plan), agreed === undefined);
    const receipt = await restore(workspace, plan, agreed, look);
    return { ...receipt, notes: [...before, ...receipt.notes] };
  } finally {
    lock.release();
  }
}

async function restore(
  workspace: Workspace,
  plan: RestorePlan,
  agreed: RestorePlan | undefined,
  look: Inspection | undefined,
): Promise<Receipt> {
  const chat = plan.kind === "rewind" ? null : plan.chat;
  const seen = look ?? (await inspect(workspace, { ...plan, chat }));
  const { savedAt, capture } = seen;
  const id = newStepId();
  faultPoint("restore:looked");
  try {
    const { present, drawn, held, stats } = await hold(workspace, seen);
    if (agreed && !isSamePlan(agreed, drawn.plan)) throw new PlanOutdated();
    refuseConflicts(drawn.plan);
    // Another process already did this undo; an empty record would only get in the way of redo.
    if (plan.kind === "undo" && isEmptyPlan(drawn.plan))
      throw new RestoreError("not-found", { kind: "already-undone" });
    // In parallel: neither touches the user's files.
    const staging = stageFiles(workspace, capture, id, drawn);
    const exact = withTouched(workspace, capture.details, present, drawn.files, stats);
    const saving = saveStandaloneStep(workspace, capture, exact, { kind: "safety", name: null });
    await Promise.allSettled([staging, saving]);
    const { step: safety } = await saving;
    const placed = await staging;
    faultPoint("restore:safety");
    const { journal, notes: prepared } = await prepare(workspace, {
      id,
      savedAt,
      present,
      held,
      safety,
      drawn,
      placed,
    });
    faultPoint("restore:staged");
    checkAccess(workspace, journal);
    writeJournal(workspace, journal);
    faultPoint("restore:journal");
    const {
      chat: continued,
      kept,
      openSessions,
      notes,
    } = await perform(workspace, journal, true, mayMatchIndex(capture, journal));
    if (drawn.plan.chat.kind === "none" && !plan.options.codeOnly)
      notes.push({ kind: "no-conversation", reason: drawn.plan.chat.reason });
    notes.push(...prepared, ...markersLeft(drawn.plan));
    const { write, chmod, delete: deleted } = journal.files;
    return {
      id,
      safetyStep: safety.id,
      written: write.length + chmod.length,
      deleted: deleted.length,
      chat: continued,
      kept,
      openSessions,
      notes,
    };
  } catch (error) {
    // The next command completes a restore that has a journal; without a journal, nothing was touched.
    discardUnstarted(workspace, id);
    throw error;
  } finally {
    capture.close();
  }
}

/** Whether a file to be written may have the content that is staged for it, so that git can trust its times again. */
function mayMatchIndex({ seen }: Capture, { files, head }: Journal): boolean {
  if (head !== null) return true;
  return files.write.some(({ path, entry }) => {
    const found = seen(path);
    return found === undefined || found.staged === entry.id;
  });
}

/**
 * Ensures that the snapshot holds the current content of every file to be touched; rebuilds the plan if it did not.
 * Later changes are detected before a file is deleted.
 */
async function hold(workspace: Workspace, { capture, drawAgain, ...seen }: Inspection) {
  let { present, drawn } = seen;
  for (let attempt = 1; ; attempt++) {
    const found = await holdFiles(workspace, capture, present, drawn.replaced);
    const { held, stats } = found;
    if (found.present === present) return { present, drawn, held, stats };
    present = found.present;
    // Another process keeps writing: discard.ts keeps what the snapshot lacks.
    if (attempt === MAX_LOOKS) return { present, drawn, held, stats };
    drawn = await drawAgain(present);
  }
}

/** Repeats the conflicts, because with `--yes` the user has not seen the plan. */
function markersLeft({ conflicts, notUndone }: RestorePlan): RestoreNote[] {
  const marked = conflicts.filter(({ markers }) => markers).map(({ path }) => path);
  const kept = notUndone.flatMap((effect) => (effect.kind === "unresolved" ? [effect.path] : []));
  return [
    ...(marked.length > 0 ? [{ kind: "conflict-markers" as const, paths: marked }] : []),
    ...(kept.length > 0 ? [{ kind: "conflicts-left" as const, paths: kept }] : []),
  ];
}

/** Refuses while another restore is incomplete: completing that one later would undo this one. */
function refuseUnfinished(workspace: Workspace, said: readonly RestoreNote[]): void {
  const [left] = journals(workspace).found;
  if (!left) return;
  throw new RestoreError("refused", { kind: "restore-unfinished", events: said, safetyStep: left.record.safetyStep });
}

function refuseConflicts(plan: RestorePlan): void {
  const [first, ...more] = obstacles(plan);
  if (!first) return;
  if (plan.merge) throw new RestoreError("refused", { kind: "changed-since-plan", path: first.path });
  throw new RestoreError("refused", { kind: "obstacle", conflict: first, more: more.length });
}

function discardUnstarted(workspace: Workspace, id: string): void {
  const directory = restoreDirectory(workspace, id);
  if (safeStat(join(directory, "journal.json"))) return;
  removeRestore(workspace, id);
}
