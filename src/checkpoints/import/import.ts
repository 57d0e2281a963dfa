/** Imports sessions from before Backtrail from an agent's transcripts: prompts, files and tokens, without snapshots. */

import { readFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { Agent } from "../../agents/contract/agent.ts";
import { sessionDirectory } from "../../agents/external/serve-session.ts";
import { now } from "../../base/clock.ts";
import { logError } from "../../base/log.ts";
import { isInside } from "../../base/paths.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { Conversation } from "../../model/conversation.ts";
import { sessionRefKey } from "../../model/session.ts";
import { stepsIn } from "../../steps/log.ts";
import { CheckpointError } from "../problems.ts";
import { type FoundTranscript, findTranscripts } from "./find.ts";
import { type ImportedSession, type ImportedTurn, importedSessions, writeImported } from "./store.ts";

export interface ImportReport {
  /** The directory that was searched. */
  directory: string;
  sessions: ImportedSession[];
  /** The skipped sessions and the reasons. */
  skipped: { session: string; why: "recorded" | "copy" | "imported" | "empty" | "too-large" | "unreadable" }[];
}

export interface ImportOptions {
  dryRun?: boolean;
  /** When a rewind, an undo or a fork made each copy, in milliseconds since 1970, by `sessionRefKey`. */
  copies?: ReadonlyMap<string, number>;
}

const MAX_BYTES = 512 * 1024 * 1024;
/** How a notice of what was undone begins, with which a copy may end. */
const NOTICE = "[Backtrail] ";
const MAX_PROMPT = 4_000;
const MAX_RESPONSE = 1_000;

export async function importSessions(
  workspace: Workspace,
  agent: Agent,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const { analyzer, profile } = agent;
  if (!analyzer || !profile.transcript) {
    throw new CheckpointError("usage", { kind: "no-readable-transcripts", agent: profile.display_name });
  }
  const { sessionFolder: _, ...everywhere } = agent;
  const directory = sessionDirectory(everywhere, workspace.root);
  const report: ImportReport = { directory, sessions: [], skipped: [] };
  const recorded = recordedSessions(workspace, profile.id);
  const sizes = new Map(
    (await importedSessions(workspace)).flatMap((known) =>
      known.agent === profile.id ? [[known.session, known.size] as const] : [],
    ),
  );
  const transcripts = findTranscripts(directory, workspace.root);
  const read = (found: FoundTranscript) => readSession(workspace, agent, analyzer.read.bind(analyzer), found);
  let known: Set<string> | undefined;
  const recordedTurns = () => {
    known ??= new Set(
      transcripts
        .filter(({ session, size }) => recorded.has(session) && size <= MAX_BYTES)
        .flatMap((found) => read(found)?.session.turns.map(turnId) ?? []),
    );
    return known;
  };
  for (const found of transcripts) {
    const skip = (why: ImportReport["skipped"][number]["why"]) => report.skipped.push({ session: found.session, why });
    if (recorded.has(found.session)) skip("recorded");
    else if ((sizes.get(found.session) ?? -1) >= found.size) skip("imported");
    else if (found.size > MAX_BYTES) skip("too-large");
    else {
      const whole = read(found);
      if (!whole) skip("unreadable");
      else if (whole.session.turns.length === 0) skip("empty");
      else if (isOnlyCopied(whole.session, recordedTurns(), options.copies)) skip("copy");
      else {
        if (!options.dryRun) writeImported(workspace, whole.session, whole.bytes);
        report.sessions.push(whole.session);
      }
    }
  }
  report.sessions.sort((a, b) => ((a.turns[0]?.time ?? "") < (b.turns[0]?.time ?? "") ? 1 : -1));
  return report;
}

/**
 * True if all turns were copied: a rewind, an undo, a fork or a resume copies conversations, and may add a notice. Copies
 * that are not listed in `copies` are known by their turns.
 */
function isOnlyCopied(
  { agent, session, turns }: ImportedSession,
  recorded: ReadonlySet<string>,
  copies: ImportOptions["copies"],
): boolean {
  const made = copies?.get(sessionRefKey({ agent, session })) ?? Number.NEGATIVE_INFINITY;
  return turns.every(
    (turn) =>
      turn.prompt.startsWith(NOTICE) ||
      (turn.time !== null && (Date.parse(turn.time) <= made || recorded.has(turnId(turn)))),
  );
}

/** A copy of a turn has the times of the original. */
function turnId({ time, prompt }: ImportedTurn): string {
  return `${time}\0${prompt}`;
}

function readSession(
  workspace: Workspace,
  agent: Agent,
  read: (bytes: Uint8Array) => Conversation,
  found: FoundTranscript,
): { session: ImportedSession; bytes: Buffer } | undefined {
  try {
    const bytes = readFileSync(found.path);
    const conversation = read(bytes);
    const counts = agent.analyzer?.countsTokens !== false;
    const session: ImportedSession = {
      v: 1,
      agent: agent.profile.id,
      session: found.session,
      title: conversation.title,
      model: conversation.model,
      tokens: counts && !conversation.tokensUnknown ? conversation.tokens : null,
      importedAt: now().toISOString(),
      size: bytes.length,
      turns: turnsIn(conversation, workspace.root),
    };
    return { session, bytes };
  } catch (error) {
    logError("import", error);
    return undefined;
  }
}

/** One turn per prompt. */
function turnsIn(conversation: Conversation, root: string): ImportedTurn[] {
  const turns: ImportedTurn[] = [];
  for (const entry of conversation.entries) {
    if (entry.type === "prompt") {
      turns.push({ time: entry.time, prompt: entry.text.slice(0, MAX_PROMPT), response: null, files: [] });
      continue;
    }
    const turn = turns.at(-1);
    if (!turn) continue;
    if (entry.type === "answer" && entry.text.trim() !== "") turn.response = entry.text.slice(0, MAX_RESPONSE);
    for (const file of entry.files) {
      const path = fromRoot(root, file);
      if (path !== undefined && !turn.files.includes(path)) turn.files.push(path);
    }
  }
  return turns;
}

/** Returns undefined for a path outside the work tree. */
function fromRoot(root: string, file: string): string | undefined {
  const absolute = isAbsolute(file) ? file : join(root, file);
  return absolute !== root && isInside(root, absolute) ? relative(root, absolute) : undefined;
}

function recordedSessions(workspace: Workspace, agent: string): Set<string> {
  const sessions = new Set<string>();
  for (const { session } of stepsIn(workspace).newestFirst({ agent })) if (session !== null) sessions.add(session);
  return sessions;
}
