/** Going back: first a plan that touches nothing, then safety step, journal and the restore itself. */
import { join } from "node:path";
import { UserError } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { newStepId } from "../base/ids.ts";
import { plural, shownPath } from "../base/text.ts";
import { loadConfig } from "../config/load.ts";
import { type Capture, type Snapshot, startCapture } from "../git/snapshot.ts";
import type { Workspace } from "../git/workspace.ts";
import { captureOptions } from "../lifecycle/dispatcher.ts";
import { saveOutsideTurns } from "../lifecycle/save.ts";
import { type DrawnUp, drawUp, type RestoreRequest } from "./draw-up.ts";
import { finishUnderLock } from "./finish.ts";
import { isLocked, journals, lockRestores, removeRestore, restoreDirectory, writeJournal } from "./journal.ts";
import { isEmptyPlan, obstacles, type Receipt, type RewindOptions, type RewindPlan, type Target } from "./model.ts";
import { markAt, safeStat } from "./move.ts";
import { perform } from "./perform.ts";
import { checkAccess, prepare, stageFiles } from "./prepare.ts";
import { recordsFile } from "./records.ts";
import { workAhead } from "./work-ahead.ts";

const SHOWN_FILES = 5;

export async function planRewind(
  workspace: Workspace,
  target: Target,
  options: RewindOptions = {},
): Promise<RewindPlan> {
  return planRestore(workspace, { kind: "rewind", target, options, takesBack: null, merge: null, chat: null });
}

export async function applyRewind(workspace: Workspace, plan: RewindPlan): Promise<Receipt> {
  return applyRestore(workspace, plan);
}

export async function planRestore(workspace: Workspace, request: RestoreRequest): Promise<RewindPlan> {
  const look = await lookAt(workspace, request);
  keepForNow(look);
  return look.drawn.plan;
}

/** The present, and what has to happen to it. */
interface Look {
  /** When it began. */
  savedAt: number;
  /** The list of restores as it was then; null where one was under way. */
  restores: string | null;
  capture: Capture;
  present: Snapshot;
  drawn: DrawnUp;
}

async function lookAt(workspace: Workspace, request: RestoreRequest): Promise<Look> {
  const savedAt = Date.now();
  const restores = isLocked(workspace) ? null : restoresMark(workspace);
  const capture = startCapture(workspace, captureOptions(loadConfig(workspace.root)));
  try {
    const looking = capture.finish();
    const ahead = workAhead(workspace, capture, looking, request);
    const present = await looking;
    const { trees, writer } = capture;
    const drawn = await drawUp(workspace, { trees, writer, ahead }, present, request);
    return { savedAt, restores, capture, present, drawn };
  } catch (error) {
    capture.close();
    throw error;
  }
}

/**
 * A plan that is carried out at once (`--yes`) need not be drawn up twice: its snapshot becomes the safety step. What
 * changes in between is found by its time and kept, as it is when it changes while a safety step is taken.
 */
const AT_ONCE_MS = 250;
const kept = new WeakMap<RewindPlan, Look>();

function keepForNow(look: Look): void {
  kept.set(look.drawn.plan, look);
  setTimeout(() => taken(look.drawn.plan)?.capture.close(), AT_ONCE_MS).unref();
}

function taken(plan: RewindPlan): Look | undefined {
  const look = kept.get(plan);
  kept.delete(plan);
  return look;
}

/** To be called with the lock held: what another restore has changed since must be looked at again. */
function stillTrue(workspace: Workspace, look: Look | undefined): Look | undefined {
  if (look && look.restores !== null && look.restores === restoresMark(workspace)) return look;
  look?.capture.close();
  return undefined;
}

function restoresMark(workspace: Workspace): string {
  return markAt(recordsFile(workspace)) ?? "none";
}

/**
 * Unless the plan was drawn up just now, it is once more, from the safety step itself: what the person was shown may
 * be minutes old, and nothing may be deleted that the safety step does not hold.
 */
export async function applyRestore(workspace: Workspace, plan: RewindPlan): Promise<Receipt> {
  const lock = await lockRestores(workspace);
  try {
    const before = await finishUnderLock(workspace);
    refuseUnfinished(workspace, before);
    const receipt = await restore(workspace, plan, stillTrue(workspace, taken(plan)));
    return { ...receipt, notes: [...before, ...receipt.notes] };
  } finally {
    lock.release();
  }
}

async function restore(workspace: Workspace, plan: RewindPlan, look: Look | undefined): Promise<Receipt> {
  const chat = plan.kind === "rewind" ? null : plan.chat;
  const { savedAt, capture, present, drawn } = look ?? (await lookAt(workspace, { ...plan, chat }));
  const id = newStepId();
  try {
    refuseConflicts(drawn.plan);
    // Somebody else was faster: a record of it would only stand in the way of redo.
    if (plan.kind === "undo" && isEmptyPlan(drawn.plan))
      throw new UserError("not-found", "Nothing of it is in the files any more.", "`backtrail log` shows what is.");
    // Beside each other: nothing of the user's is touched by either.
    const staging = stageFiles(workspace, capture, id, drawn);
    const saving = saveOutsideTurns(workspace, capture, present, { kind: "safety", name: null });
    await Promise.allSettled([staging, saving]);
    const { step: safety } = await saving;
    await staging;
    faultPoint("restore:safety");
    const { journal, notes: told } = await prepare(workspace, { id, savedAt, present, safety, drawn });
    faultPoint("restore:staged");
    checkAccess(workspace, journal);
    writeJournal(workspace, journal);
    faultPoint("restore:journal");
    const { chat: continued, notes } = await perform(workspace, journal, true);
    if (drawn.plan.chat.kind === "none" && !plan.options.codeOnly) notes.push(drawn.plan.chat.why);
    notes.push(...told, ...markersLeft(drawn.plan));
    const { write, chmod, delete: deleted } = journal.files;
    return {
      id,
      safetyStep: safety.id,
      written: write.length + chmod.length,
      deleted: deleted.length,
      chat: continued,
      notes,
    };
  } catch (error) {
    // What has a journal is for the next command to finish; without one, nothing was touched.
    discardUnstarted(workspace, id);
    throw error;
  } finally {
    capture.close();
  }
}

/** With `--yes` nobody has seen the plan: what is in question is said once more. */
function markersLeft({ conflicts, notUndone }: RewindPlan): string[] {
  const marked = conflicts.filter(({ markers }) => markers).map(({ path }) => shownPath(path));
  const kept = notUndone.filter(({ unsettled }) => unsettled).map(({ what }) => what);
  return [
    ...(marked.length > 0 ? [`Look for "<<<<<<< now" and settle what conflicts in ${listed(marked)}.`] : []),
    ...(kept.length > 0 ? [`In conflict, and left as it is since no markers can show it: ${listed(kept)}.`] : []),
  ];
}

function listed(files: readonly string[]): string {
  const more = files.length > SHOWN_FILES ? ` and ${files.length - SHOWN_FILES} more` : "";
  return `${files.slice(0, SHOWN_FILES).join(", ")}${more}`;
}

/** Finishing it later would undo this restore. */
function refuseUnfinished(workspace: Workspace, said: readonly string[]): void {
  const [left] = journals(workspace).found;
  if (!left) return;
  throw new UserError(
    "refused",
    [...said, "Nothing else can be restored before that."].join(" "),
    `Put right what is in its way, then try again. Everything as it was before is in step ${left.record.safetyStep}.`,
  );
}

function refuseConflicts(plan: RewindPlan): void {
  const [first, ...more] = obstacles(plan);
  if (!first) return;
  if (plan.merge)
    throw new UserError("refused", `${shownPath(first.path)} was changed in between. Nothing was changed.`);
  const others = more.length > 0 ? ` (and ${plural(more.length, "more path")})` : "";
  throw new UserError(
    "refused",
    `${shownPath(first.path)} can't be restored: ${first.why}${others}. Nothing was changed.`,
    "Move what is in the way, or choose other files with --paths.",
  );
}

function discardUnstarted(workspace: Workspace, id: string): void {
  const directory = restoreDirectory(workspace, id);
  if (safeStat(join(directory, "journal.json"))) return;
  removeRestore(workspace, id);
}
