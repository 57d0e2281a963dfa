/** Plans what to forget, by session id, step id, or text of the conversation. Changes nothing. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { STORE_FOLDERS } from "../../agents/registry/packaged.ts";
import { sessionKey } from "../../base/ids.ts";
import { checkpointsWith, publicCheckpointsWith } from "../../checkpoints/forget/forget.ts";
import { importedConversation, importedSessions } from "../../checkpoints/import/store.ts";
import { findSession } from "../../checkpoints/read/sessions.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Step } from "../../model/step.ts";
import { isAlive } from "../../recording/orphaned-turns.ts";
import { loadSession } from "../../recording/session/store.ts";
import { keptRecords } from "../../steps/conversation/kept.ts";
import { readTranscript } from "../../steps/conversation/transcript.ts";
import { listForks } from "../../steps/forks.ts";
import { handoffFilesOf } from "../../steps/handoff-files.ts";
import { stepsIn } from "../../steps/log.ts";

import { ownerKey } from "../../steps/upkeep/retention.ts";
import { MaintenanceError } from "../problems.ts";

interface ForgottenSession {
  agent: string;
  session: string;
  key: string;
  title: string | null;
  steps: Step[];
  imported: boolean;
  /** The agent may still be running: its further events, and its whole transcript, would be recorded again. */
  open: boolean;
  /** The agent's own transcript, which Backtrail does not delete. */
  transcript: string | null;
}

export interface ForgetPlan {
  sessions: ForgottenSession[];
  /** Used if the target is a single step. */
  steps: Step[];
  conversationOnly: boolean;
  checkpoints: number;
  /** The number of these checkpoints on a branch of the user's repository. */
  publicCheckpoints: number;
  /** The names of forks made from one of the steps. */
  forks: string[];
  /** `transcripts` includes handoffs to other agents; `runs` are the logs of headless runs. */
  files: { transcripts: string[]; kept: string[]; runs: string[] };
  words: string[];
}

export interface ForgetOptions {
  conversationOnly: boolean;
  /** Directories of the files that a session's restores kept. */
  keptFor?(session: string): string[];
  /** Logs of headless runs of a session. */
  runsOf?(session: string): string[];
}

const MIN_ID = 4;
const MIN_TEXT = 3;

export async function planForget(workspace: Workspace, target: string, options: ForgetOptions): Promise<ForgetPlan> {
  const { conversationOnly } = options;
  const none = {
    sessions: [],
    checkpoints: 0,
    publicCheckpoints: 0,
    files: { transcripts: [], kept: [], runs: [] },
    conversationOnly,
  };
  const step = /^[k-z]{4,12}$/.test(target) ? stepsIn(workspace).byId(target) : undefined;
  if (step) {
    if (conversationOnly) throw new MaintenanceError("usage", { kind: "step-without-own-conversation" });
    return { ...none, steps: [step], forks: forksFrom(workspace, [step]), words: [step.id] };
  }
  const named = target.length >= MIN_ID ? await findSession(workspace, target) : undefined;
  const names = named ? [named] : await sessionsSaying(workspace, target);
  if (names.length === 0) throw new MaintenanceError("not-found", { kind: "nothing-to-forget", target });
  const imported = new Set((await importedSessions(workspace)).map(({ agent, session }) => sessionKey(agent, session)));
  const steps = Map.groupBy(stepsIn(workspace).newestFirst(), ownerKey);
  const sessions = names.map(({ agent, session }): ForgottenSession => {
    const key = sessionKey(agent, session);
    const state = loadSession(workspace, key);
    return {
      agent,
      session,
      key,
      title: state?.title ?? steps.get(key)?.at(-1)?.prompt ?? null,
      steps: steps.get(key) ?? [],
      imported: imported.has(key),
      open: state !== undefined && state.phase !== "ENDED" && isAlive(state),
      transcript: state?.transcript?.path ?? null,
    };
  });
  const ids = new Set(sessions.map(({ session }) => session));
  return {
    sessions,
    steps: [],
    conversationOnly,
    checkpoints: await checkpointsWith(workspace, ids),
    publicCheckpoints: await publicCheckpointsWith(workspace, ids),
    forks: conversationOnly
      ? []
      : forksFrom(
          workspace,
          sessions.flatMap((session) => session.steps),
        ),
    files: {
      transcripts: [
        ...[...ids].flatMap((id) => transcriptsOf(workspace, id)),
        ...sessions.flatMap(({ key }) => handoffFilesOf(workspace, key)),
      ],
      kept: [...ids].flatMap((id) => options.keptFor?.(id) ?? []),
      runs: [...ids].flatMap((id) => options.runsOf?.(id) ?? []),
    },
    words: named ? [...ids] : [...ids, target],
  };
}

function forksFrom(workspace: Workspace, steps: readonly Step[]): string[] {
  const ids = new Set(steps.map(({ id }) => id));
  return listForks(workspace).flatMap(({ name, from }) => (from.step !== null && ids.has(from.step) ? [name] : []));
}

/** Transcripts that plugins wrote, including their forks. */
function transcriptsOf({ storeDir }: Workspace, id: string): string[] {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(id)) return [];
  const files = STORE_FOLDERS.flatMap((folder) =>
    [`${id}.jsonl`, `${id}.json`].map((name) => join(storeDir, folder, name)),
  );
  return files.filter(existsSync);
}

/** Also the records of turns whose code states have expired. */
function everyStep(workspace: Workspace): Step[] {
  return [...stepsIn(workspace).newestFirst(), ...keptRecords(workspace)];
}

/** Searches prompts, answers, commands and transcripts, ignoring case. */
async function sessionsSaying(workspace: Workspace, text: string): Promise<{ agent: string; session: string }[]> {
  if (text.trim().length < MIN_TEXT) throw new MaintenanceError("usage", { kind: "text-too-short", min: MIN_TEXT });
  const wanted = text.toLowerCase();
  const says = (...texts: (string | null | undefined)[]) => texts.some((one) => one?.toLowerCase().includes(wanted));
  const found = new Map<string, { agent: string; session: string }>();
  const generations = new Map<string, { agent: string; session: string; generations: Set<number> }>();
  for (const { agent, session, prompt, response, command, transcript } of everyStep(workspace)) {
    if (agent === null || session === null) continue;
    const key = sessionKey(agent, session);
    if (says(prompt, response, command)) found.set(key, { agent, session });
    const known = generations.get(key) ?? { agent, session, generations: new Set() };
    if (transcript) known.generations.add(transcript.generation);
    generations.set(key, known);
  }
  for (const [key, { agent, session, generations: all }] of generations) {
    for (const generation of all) {
      if (found.has(key)) break;
      const bytes = await readTranscript(workspace, key, generation, Number.MAX_SAFE_INTEGER);
      // Also search for the JSON-escaped text.
      const written = JSON.stringify(text).slice(1, -1).toLowerCase();
      if (says(bytes.toString("utf8")) || bytes.toString("utf8").toLowerCase().includes(written))
        found.set(key, { agent, session });
    }
  }
  for (const session of await importedSessions(workspace)) {
    const conversation = await importedConversation(workspace, session);
    const turns = session.turns.some((turn) => says(turn.prompt, turn.response));
    if (turns || says(session.title) || conversation?.entries.some((entry) => says(JSON.stringify(entry))))
      found.set(sessionKey(session.agent, session.session), { agent: session.agent, session: session.session });
  }
  return [...found.values()];
}
