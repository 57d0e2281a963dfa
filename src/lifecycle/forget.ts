/**
 * Forgetting conversations: out of steps, state, queue, log, imported sessions, what restores kept and OpenCode's transcripts, out
 * of checkpoints by a new commit, and the secrets that were redacted in them. What is to go is written down first
 * (`forget.json`), so that a kill in between is made good by whoever comes next; every part can be done twice.
 */
import { existsSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { readJson, readText, removeFile, writeFileAtomic, writeJson } from "../base/files.ts";
import { logError, logFile } from "../base/log.ts";
import { isInside } from "../base/paths.ts";
import { plural } from "../base/text.ts";
import { forgetInCheckpoints } from "../checkpoints/forget.ts";
import { rememberForgotten } from "../checkpoints/forgotten.ts";
import { dropImported } from "../checkpoints/imported.ts";
import { dropFromQueue } from "../checkpoints/queue.ts";
import type { Workspace } from "../git/workspace.ts";
import { listForks, writeForkRecord } from "../steps/forks.ts";
import { rewriteIndex, stepsNewestFirst } from "../steps/index-file.ts";
import { dropSteps, ownerKey } from "../steps/retention.ts";
import { stripSession } from "../steps/strip.ts";
import { forgetSecrets } from "../transcripts/redact/vault.ts";
import type { ForgetPlan } from "./forget-plan.ts";
import { forgetSessionFiles } from "./session-files.ts";

/** forget.json in the store: what is to go. */
interface Journal {
  v: 1;
  conversationOnly: boolean;
  sessions: { key: string; id: string }[];
  /** Single steps, by id. */
  steps: string[];
  /** Files and directories below the store. */
  files: string[];
  /** Logs of headless runs: outside of the store, each named after its session. */
  runs: string[];
  /** Words by which lines of the log are known. */
  words: string[];
}

export async function forget(workspace: Workspace, plan: ForgetPlan): Promise<void> {
  const journal: Journal = {
    v: 1,
    conversationOnly: plan.conversationOnly,
    sessions: plan.sessions.map(({ key, session }) => ({ key, id: session })),
    steps: plan.steps.map(({ id }) => id),
    files: plan.conversationOnly ? plan.files.transcripts : [...plan.files.transcripts, ...plan.files.kept],
    runs: plan.files.runs,
    words: plan.words,
  };
  writeJson(journalFile(workspace), journal, { sync: true });
  faultPoint("forget:journal");
  await carryOut(workspace, journal);
}

/** Whether somebody began to, and is not done. Changes nothing. */
export function isForgetting(workspace: Workspace): boolean {
  return existsSync(journalFile(workspace));
}

/** What a killed process began to forget is forgotten. Sentences for the user. */
export async function finishForgetting(workspace: Workspace): Promise<string[]> {
  const journal = readJournal(workspace);
  if (!journal) return [];
  await carryOut(workspace, journal);
  return [`Finished forgetting ${plural(journal.sessions.length + journal.steps.length, "conversation")}.`];
}

async function carryOut(workspace: Workspace, journal: Journal): Promise<void> {
  const keys = new Set(journal.sessions.map(({ key }) => key));
  // First of all what would bring it back.
  dropFromQueue(workspace, keys);
  forgetPrompts(workspace, keys);
  await forgetSteps(workspace, journal, keys);
  faultPoint("forget:steps");
  const ids = new Set(journal.sessions.map(({ id }) => id));
  rememberForgotten(workspace, ids);
  const orphans = ids.size > 0 ? await forgetInCheckpoints(workspace, ids) : [];
  faultPoint("forget:checkpoints");
  forgetSecrets(workspace.storeDir, orphans);
  for (const key of keys) {
    await dropImported(workspace, key);
    forgetSessionFiles(workspace, key);
  }
  // Only what lies in the store: whatever this file says, nothing else is removed.
  for (const file of journal.files)
    if (isInside(workspace.storeDir, file)) rmSync(file, { recursive: true, force: true });
  for (const file of journal.runs) if (ids.has(basename(file, ".jsonl"))) rmSync(file, { force: true });
  faultPoint("forget:files");
  forgetLines(workspace, journal.words);
  removeFile(journalFile(workspace));
}

/** Of forks, while their steps still say whose they are. */
function forgetPrompts(workspace: Workspace, keys: ReadonlySet<string>): void {
  const forks = listForks(workspace).filter(({ from }) => from.prompt !== null);
  if (forks.length === 0) return;
  const own = [...stepsNewestFirst(workspace)].filter((step) => keys.has(ownerKey(step)));
  const ids = new Set<string | null>(own.map(({ id }) => id));
  for (const fork of forks) {
    if (ids.has(fork.from.step)) writeForkRecord(workspace, { ...fork, from: { ...fork.from, prompt: null } });
  }
}

async function forgetSteps(workspace: Workspace, journal: Journal, keys: ReadonlySet<string>): Promise<void> {
  if (journal.conversationOnly) {
    for (const key of keys) await stripSession(workspace, key);
    return;
  }
  const wanted = () =>
    [...stepsNewestFirst(workspace)].filter((step) => keys.has(ownerKey(step)) || journal.steps.includes(step.id));
  await dropSteps(workspace, wanted());
  // Whoever was killed in between may have crossed them off the list, and not yet written it anew.
  rewriteIndex(workspace, (listed) => listed);
  const left = wanted().length;
  if (left === 0) return;
  throw new UserError(
    "failed",
    `${plural(left, "step")} could not be forgotten: the session is busy.`,
    "End its agent; the next command goes on with it.",
  );
}

/** Messages of ours name sessions at most; but who wants something forgotten wants no trace of it. */
function forgetLines(workspace: Workspace, words: readonly string[]): void {
  for (const file of [logFile(workspace.storeDir), `${logFile(workspace.storeDir)}.1`]) {
    const text = readText(file);
    if (text === undefined || !words.some((word) => text.includes(word))) continue;
    const left = text.split("\n").filter((line) => !words.some((word) => line.includes(word)));
    writeFileAtomic(file, left.join("\n"));
  }
}

function journalFile({ storeDir }: Workspace): string {
  return join(storeDir, "forget.json");
}

function readJournal(workspace: Workspace): Journal | undefined {
  try {
    const journal = readJson(journalFile(workspace)) as Partial<Journal> | undefined;
    if (journal === undefined) return undefined;
    const { v, sessions, steps, files, runs, words } = journal;
    const texts = [steps, files, runs, words].every(
      (list) => Array.isArray(list) && list.every((item) => typeof item === "string"),
    );
    const named =
      Array.isArray(sessions) &&
      sessions.every((one) => /^[0-9a-f]{20}$/.test(String(one?.key)) && typeof one.id === "string");
    if (v === 1 && texts && named) return journal as Journal;
    throw new Error("What was to be forgotten can't be read any more.");
  } catch (error) {
    logError("forget", error);
    removeFile(journalFile(workspace));
    return undefined;
  }
}
