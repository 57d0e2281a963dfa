/**
 * `explain`: shows the sessions behind a commit, in a checkpoint, or one session: prompts, files, tokens, conversation.
 */

import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { oneLine, shorten } from "../../../base/text.ts";
import { ownPrompts, readAs } from "../../../checkpoints/blame/line-rationale.ts";
import { isCheckpointName, isRemovedTranscript } from "../../../checkpoints/format/layout.ts";
import { commitsNaming, findCommit, type LinkedCommit } from "../../../checkpoints/links/history.ts";
import { CheckpointReader, type StoredCheckpoint } from "../../../checkpoints/read/read.ts";
import {
  findSession,
  type RecordedSession,
  recordedSession,
  sessionsBehind,
} from "../../../checkpoints/read/sessions.ts";
import type { Workspace } from "../../../git/workspace.ts";
import type { Conversation } from "../../../model/conversation.ts";
import { nameKey } from "../../../restore/targets/turns.ts";
import { undoneTurns } from "../../../restore/undo.ts";
import type { OptionsOf } from "../../program/spec.ts";
import {
  type CheckpointView,
  checkpointLines,
  conversationLines,
  ownLines,
  sessionLines,
  spentBy,
} from "../../render/checkpoint.ts";
import { commitLine, labeled } from "../../render/line-origin.ts";
import { recordedSessionLines } from "../../render/sessions/session.ts";
import { checkpointDefectText } from "../../render/words/checkpoints.ts";
import { openRepository } from "../../shared/open-repository.ts";
import type { Io } from "../../terminal/io.ts";
import { page } from "../../terminal/pager.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { explainCommand } from "./commands.ts";

const DEFAULT_TARGET = "HEAD";

type Options = OptionsOf<typeof explainCommand>;

interface Explanation {
  commits: LinkedCommit[];
  checkpoints: StoredCheckpoint[];
  /** From the steps recorded here, if no checkpoint has them. */
  sessions: RecordedSession[];
}

export async function run(options: Options, io: Io): Promise<undefined> {
  const wantsSummary = options.summarize || options.summarise;
  if (options.agent !== undefined && !wantsSummary) {
    throw new UserError("usage", "--agent needs --summarize.", "Give --summarize too.");
  }
  const workspace = await openRepository(io);
  const reader = new CheckpointReader(workspace);
  try {
    const target = (options.target ?? DEFAULT_TARGET).trim();
    const found = await withProgress(io, "Reading the history", () => explain(workspace, reader, target)).catch(
      (error: unknown) => askTeam(workspace, target, options, io, error),
    );
    if (found === null) return;
    for (const { id, sessions } of found.checkpoints) {
      for (const session of sessions) session.prompts = await ownPrompts(reader, id, session);
    }
    if (wantsSummary) {
      const { summarizeAll } = await import("./summarize.ts");
      await summarizeAll(workspace, reader, found.checkpoints, options.agent, io);
    }
    const conversations = options.conversation ? await conversationsOf(workspace, reader, found) : new Map();
    if (options.json) io.json(asJson(found, conversations));
    else await page(io, asText(workspace, found, conversations, io).join("\n"));
  } finally {
    reader.close();
  }
}

/**
 * A colleague's commit may name a checkpoint that is only on the team's hub. Shows its turns and returns null; throws
 * the original error if the hub has none, or if this machine belongs to no team.
 */
async function askTeam(workspace: Workspace, target: string, { json }: Options, io: Io, error: unknown): Promise<null> {
  if (!(error instanceof UserError) || error.kind !== "not-found") throw error;
  const { teamTurns } = await import("./team-turns.ts");
  const commit = await findCommit(workspace, target);
  const turns = await teamTurns(commit?.checkpoints ?? (isCheckpointName(target) ? [target] : []));
  if (turns.length === 0) throw error;
  if (json) io.json({ commits: commit ? [commit.id] : [], checkpoints: [], sessions: [], team: turns });
  else {
    const { teamTurnLines } = await import("../../render/team-turns.ts");
    await page(io, teamTurnLines(turns, commit, io.out, now()).join("\n"));
  }
  return null;
}

async function explain(workspace: Workspace, reader: CheckpointReader, target: string): Promise<Explanation> {
  const checkpoint = isCheckpointName(target) ? await reader.find(target) : undefined;
  if (checkpoint)
    return { commits: await commitsNaming(workspace, checkpoint.id), checkpoints: [checkpoint], sessions: [] };
  const commit = await findCommit(workspace, target);
  if (commit) return explainCommit(workspace, reader, commit);
  const session = await findSession(workspace, target);
  if (session) return { commits: [], checkpoints: [], sessions: [await recordedSession(workspace, session)] };
  if (target === DEFAULT_TARGET)
    throw new UserError(
      "not-found",
      workspace.kind === "repository"
        ? "There is no commit here yet that could be explained."
        : "This folder is not a git repository, so it has no commits to explain.",
      "`backtrail explain <session>` explains a session; `backtrail sessions` lists them.",
    );
  throw new UserError(
    "not-found",
    `There is no commit, checkpoint or session "${shorten(oneLine(target), 60)}".`,
    "`backtrail log --commits` lists commits with their checkpoints, `backtrail status` the sessions.",
  );
}

async function explainCommit(
  workspace: Workspace,
  reader: CheckpointReader,
  commit: LinkedCommit,
): Promise<Explanation> {
  const checkpoints = await reader.findAll(commit.id, commit.checkpoints, (error) => {
    throw error;
  });
  const sessions = checkpoints.length > 0 ? [] : await sessionsBehind(workspace, commit.id);
  if (checkpoints.length > 0 || sessions.length > 0) return { commits: [commit], checkpoints, sessions };
  const [missing] = commit.checkpoints;
  throw new UserError(
    "not-found",
    `No session is recorded behind commit ${commit.id.slice(0, 12)}.`,
    missing === undefined
      ? "`git show` shows what it changed."
      : `It names checkpoint ${missing}, which is not here. If it was pushed, get it with \`backtrail sync fetch\`.`,
  );
}

async function conversationsOf(
  workspace: Workspace,
  reader: CheckpointReader,
  found: Explanation,
): Promise<Map<string, Conversation>> {
  const conversations = new Map<string, Conversation>();
  for (const { id, sessions, defects } of found.checkpoints) {
    for (const { index, metadata, record } of sessions) {
      const transcript = await reader.transcript(id, index);
      defects.push(...(transcript?.defects ?? []));
      if (transcript && isRemovedTranscript(transcript.bytes)) defects.push({ kind: "conversation-removed" });
      const read = transcript && (await readAs(record?.agent || metadata.agent, transcript.bytes));
      if (read) conversations.set(`${id}/${index}`, read);
    }
  }
  for (const session of found.sessions) {
    const read = await session.conversation(workspace);
    if (read) conversations.set(session.session, read);
  }
  return conversations;
}

function asText(
  workspace: Workspace,
  found: Explanation,
  conversations: ReadonlyMap<string, Conversation>,
  io: Io,
): string[] {
  const { paint, columns } = io.out;
  const view: CheckpointView = { paint, columns, now: now(), isUndone: undoneIn(workspace) };
  const lines = found.commits.flatMap((commit) => labeled("commit", commitLine(commit, view.now, paint), paint));
  const talk = (key: string) => {
    const conversation = conversations.get(key);
    return conversation ? conversationLines(conversation, view) : [];
  };
  for (const checkpoint of found.checkpoints) {
    if (lines.length > 0) lines.push("");
    lines.push(...checkpointLines(checkpoint, view));
    for (const session of checkpoint.sessions)
      lines.push(...sessionLines(session, view), ...talk(`${checkpoint.id}/${session.index}`));
  }
  for (const session of found.sessions) {
    if (lines.length > 0) lines.push("");
    lines.push(...recordedSessionLines(session, view), ...talk(session.session));
  }
  return lines;
}

/** An undo after the commit does not change what was committed. */
function undoneIn(workspace: Workspace): NonNullable<CheckpointView["isUndone"]> {
  const times = new Map(undoneTurns(workspace).map((turn) => [nameKey(turn), turn.time]));
  return ({ agent, session, turn, committed }) => {
    const time = times.get(nameKey({ agent, session, turn, subagent: null }));
    return time !== undefined && (committed === null || time <= committed);
  };
}

function asJson(found: Explanation, conversations: ReadonlyMap<string, Conversation>) {
  const talk = (key: string) => {
    const conversation = conversations.get(key);
    return conversation ? { conversation: conversation.entries } : {};
  };
  return {
    commits: found.commits,
    checkpoints: found.checkpoints.map(({ sessions, ...checkpoint }) => ({
      ...checkpoint,
      problems: checkpoint.defects.map(checkpointDefectText),
      sessions: sessions.map((session) => ({
        ...session,
        cost: spentBy(session).cost,
        lines: ownLines(session),
        ...talk(`${checkpoint.id}/${session.index}`),
      })),
    })),
    sessions: found.sessions.map(({ conversation: _, ...session }) => ({ ...session, ...talk(session.session) })),
  };
}
