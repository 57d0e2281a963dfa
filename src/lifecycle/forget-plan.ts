/** What would be forgotten: found by a session's id, a step's, or a text that was said. Changes nothing. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../base/errors.ts";
import { sessionKey } from "../base/ids.ts";
import { shownPath } from "../base/text.ts";
import { checkpointsWith } from "../checkpoints/forget.ts";
import { importedConversation, importedSessions } from "../checkpoints/imported.ts";
import { findSession } from "../checkpoints/sessions.ts";
import type { Workspace } from "../git/workspace.ts";
import { listForks } from "../steps/forks.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import { findStep } from "../steps/list.ts";
import type { Step } from "../steps/model.ts";
import { ownerKey } from "../steps/retention.ts";
import { readTranscript } from "../steps/transcript.ts";
import { isAlive } from "./dead-turns.ts";
import { handOversOf } from "./hand-overs.ts";
import { loadSession } from "./session-state.ts";

export interface ForgottenSession {
  agent: string;
  session: string;
  key: string;
  title: string | null;
  steps: Step[];
  imported: boolean;
  /** Its agent may still be open: what it says from now on is recorded again, and its transcript with it. */
  open: boolean;
  /** The agent's own, which is not ours to remove. */
  transcript: string | null;
}

export interface ForgetPlan {
  sessions: ForgottenSession[];
  /** Where a single step is meant. */
  steps: Step[];
  conversationOnly: boolean;
  checkpoints: number;
  /** Forks that were made from one of the steps, by name. */
  forks: string[];
  /** `transcripts`: also what other agents were told of it. `runs`: logs of headless runs. */
  files: { transcripts: string[]; kept: string[]; runs: string[] };
  words: string[];
}

export interface ForgetOptions {
  conversationOnly: boolean;
  /** Directories of files that restores of a session kept. */
  keptFor?(session: string): string[];
  /** Logs of headless runs of a session. */
  runsOf?(session: string): string[];
}

const SHORTEST_ID = 4;
const SHORTEST_TEXT = 3;

export async function planForget(workspace: Workspace, target: string, options: ForgetOptions): Promise<ForgetPlan> {
  const { conversationOnly } = options;
  const none = { sessions: [], checkpoints: 0, files: { transcripts: [], kept: [], runs: [] }, conversationOnly };
  const step = /^[k-z]{4,12}$/.test(target) ? findStep(workspace, target) : undefined;
  if (step) {
    if (conversationOnly)
      throw new UserError(
        "usage",
        "A single step has no conversation of its own.",
        "Name its session, or leave --conversation-only out.",
      );
    return { ...none, steps: [step], forks: forksFrom(workspace, [step]), words: [step.id] };
  }
  const named = target.length >= SHORTEST_ID ? await findSession(workspace, target) : undefined;
  const names = named ? [named] : await sessionsSaying(workspace, target);
  if (names.length === 0)
    throw new UserError(
      "not-found",
      `No session or step is called ${shownPath(target)}, and none that is recorded here says it.`,
      "`backtrail log` shows what there is.",
    );
  const imported = new Set((await importedSessions(workspace)).map(({ agent, session }) => sessionKey(agent, session)));
  const steps = Map.groupBy(stepsNewestFirst(workspace), ownerKey);
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
    forks: conversationOnly
      ? []
      : forksFrom(
          workspace,
          sessions.flatMap((session) => session.steps),
        ),
    files: {
      transcripts: [
        ...[...ids].flatMap((id) => transcriptsOf(workspace, id)),
        ...sessions.flatMap(({ key }) => handOversOf(workspace, key)),
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

/** What OpenCode's plugin wrote, and forks of it. */
function transcriptsOf({ storeDir }: Workspace, id: string): string[] {
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(id)) return [];
  return [join(storeDir, "opencode", `${id}.jsonl`), join(storeDir, "opencode", `${id}.json`)].filter(existsSync);
}

/** By what was asked, answered or shown, in whatever case. */
async function sessionsSaying(workspace: Workspace, text: string): Promise<{ agent: string; session: string }[]> {
  if (text.trim().length < SHORTEST_TEXT)
    throw new UserError("usage", "That is too short to look for.", `Give at least ${SHORTEST_TEXT} characters.`);
  const wanted = text.toLowerCase();
  const says = (...texts: (string | null | undefined)[]) => texts.some((one) => one?.toLowerCase().includes(wanted));
  const found = new Map<string, { agent: string; session: string }>();
  const generations = new Map<string, { agent: string; session: string; generations: Set<number> }>();
  for (const { agent, session, prompt, response, command, transcript } of stepsNewestFirst(workspace)) {
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
      // As it is written in JSON, too.
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
