/**
 * How a conversation can go on: where it is, or as a copy put where the agent looks for it. A session that is no longer
 * on this machine comes back under its own id; one that is there already is never replaced without being asked about.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { ForkResult } from "../../agents/agent.ts";
import { sessionDirectory } from "../../agents/external/serve-session.ts";
import { quoted } from "../../agents/resume.ts";
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import { newSessionId, sessionKey } from "../../base/ids.ts";
import { isInside } from "../../base/paths.ts";
import type { Workspace } from "../../git/workspace.ts";
import { loadSession } from "../../lifecycle/session-state.ts";
import { stepsNewestFirst } from "../../steps/index-file.ts";
import { requireInside, transcriptRoot } from "../chat.ts";
import type { ChatReceipt } from "../model.ts";
import type { ResumedConversation } from "./conversation.ts";
import type { Source } from "./source.ts";

export interface ResumePlan {
  chat: ChatReceipt;
  /** What has to be written; null where the agent has it all. */
  write: { content: Uint8Array; files: { path: string; content: Uint8Array }[]; root: string } | null;
  /** What stands there now and would be replaced. */
  replaces: { path: string; isNewer: boolean } | null;
  notes: string[];
}

/** Names with a time in them differ at each call, so nobody can tell whether the session is there already. */
const TIMED = /\d{4}-\d{2}-\d{2}T\d{2}/;

export function planResume(
  workspace: Workspace,
  source: Source,
  conversation: ResumedConversation,
  options: { copy?: boolean } = {},
): ResumePlan {
  const { agent, notes } = conversation;
  const { forker, profile } = agent;
  if (!forker) {
    throw new UserError(
      "not-found",
      `It is not known how ${profile.display_name} can be given a conversation.`,
      "--agent hands it over to another one.",
    );
  }
  const ready = options.copy ? null : goesOnAsItIs(workspace, source, conversation);
  if (ready) return { chat: ready, write: null, replaces: null, notes };
  const isBack = !options.copy && isGone(source, conversation);
  const own = isBack ? tryFork(workspace, conversation, conversation.session, true) : undefined;
  const kept = own && !TIMED.test(basename(own.transcriptPath)) ? own : undefined;
  const forked = kept ?? tryFork(workspace, conversation, newSessionId(), false);
  if (!forked || forked.content.length === 0) {
    throw new UserError("not-found", "Nothing of the conversation was said up to there.", "Start a new session.");
  }
  const root = transcriptRoot(agent, pathFor(workspace, conversation));
  const files = forked.files ?? [];
  for (const path of [forked.transcriptPath, ...files.map((file) => file.path)]) requireInside(root, path);
  const chat = {
    agent: profile.id,
    session: forked.sessionId,
    transcript: forked.transcriptPath,
    command: forked.command ?? forker.resumeCommand(forked.sessionId),
  };
  const standing = inTheWay(forked, conversation);
  if (standing === "same") return { chat, write: null, replaces: null, notes };
  return { chat, write: { content: forked.content, files, root }, replaces: standing, notes };
}

/** The agent still has the session, whole, and it belongs to a place that is there. */
function goesOnAsItIs(workspace: Workspace, source: Source, conversation: ResumedConversation): ChatReceipt | null {
  const { agent, session, path } = conversation;
  if (source.kind !== "step" || !source.isNewest || path === null || !existsSync(path) || !agent.forker) return null;
  const cwd = loadSession(workspace, sessionKey(agent.profile.id, session))?.cwd;
  if (cwd === undefined || !existsSync(cwd)) return null;
  const command = agent.forker.resumeCommand(session);
  const place = isInside(workspace.root, cwd) ? "" : `cd ${quoted(cwd)} && `;
  return { agent: agent.profile.id, session, transcript: path, command: `${place}${command}` };
}

/** Not on this machine any more, or never: then it may have its own id again. */
function isGone(source: Source, { path }: ResumedConversation): boolean {
  return source.kind === "checkpoint" || (source.isNewest && path !== null && !existsSync(path));
}

function tryFork(
  workspace: Workspace,
  conversation: ResumedConversation,
  sessionId: string,
  continued: boolean,
): ForkResult | undefined {
  const { agent, bytes, lastId } = conversation;
  const { forker } = agent;
  try {
    return forker?.fork({
      bytes,
      lastId: forker.branching ? lastId : null,
      transcriptPath: pathFor(workspace, conversation),
      newSessionId: sessionId,
      projectRoot: workspace.root,
      title: conversation.title,
      continued,
    });
  } catch (error) {
    // An id from elsewhere that the agent would not take.
    if (continued && error instanceof UserError) return undefined;
    throw error;
  }
}

/** Beside the original, or beside another conversation of the agent's; otherwise where the agent usually keeps them. */
function pathFor(workspace: Workspace, { agent, path }: ResumedConversation): string {
  if (path !== null) return path;
  for (const step of stepsNewestFirst(workspace)) {
    if (step.agent === agent.profile.id && step.transcript) return step.transcript.path;
  }
  // OpenCode's are kept in our own store.
  if (agent.profile.id === "opencode") return join(workspace.storeDir, "opencode", "session.jsonl");
  const { sessionFolder: folder, ...everywhere } = agent;
  const usual =
    agent.usualTranscript?.(workspace.root, now()) ?? `${folder?.(workspace.root) ?? "sessions"}/session.jsonl`;
  return join(sessionDirectory(everywhere, workspace.root), usual);
}

function inTheWay(forked: ForkResult, { time }: ResumedConversation): ResumePlan["replaces"] | "same" {
  const { transcriptPath: path, content } = forked;
  if (!existsSync(path)) return null;
  const found = readFileSync(path);
  if (found.equals(content)) return "same";
  const isNewer = found.length > content.length || statSync(path).mtimeMs > Date.parse(time);
  return { path, isNewer };
}
