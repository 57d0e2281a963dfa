/**
 * Plans how to resume a conversation: in place, or as a copy where the agent looks for it. A session missing from this
 * machine returns under its own id; an existing one is never replaced without consent.
 */

import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { ForkResult } from "../../agents/contract/agent.ts";
import { resolveSessionFile, sessionDirectory } from "../../agents/external/serve-session.ts";
import { resumeCommand } from "../../agents/shared/resume.ts";
import { now } from "../../base/clock.ts";
import { UserError } from "../../base/errors.ts";
import { newSessionId, sessionKey } from "../../base/ids.ts";
import { isInside } from "../../base/paths.ts";
import type { Workspace } from "../../git/workspace.ts";
import { shownCommand } from "../../model/command.ts";
import { loadSession } from "../../recording/session/store.ts";
import { stepsIn } from "../../steps/log.ts";
import { requireInside, transcriptRoot } from "../conversation/fork.ts";
import type { ResumeNote } from "../notes.ts";
import type { ChatReceipt } from "../types.ts";
import type { ResumedConversation } from "./conversation.ts";
import { ResumeError } from "./problems.ts";
import type { Source } from "./source.ts";

export interface ResumePlan {
  chat: ChatReceipt;
  /** What to write; null if the agent has everything. */
  write: { content: Uint8Array; files: { path: string; content: Uint8Array }[]; root: string } | null;
  /** The existing transcript that would be replaced. */
  replaces: { path: string; isNewer: boolean } | null;
  notes: ResumeNote[];
}

/** Names with a timestamp differ on each call, so they can't show whether the session exists already. */
const TIMED = /\d{4}-\d{2}-\d{2}T\d{2}/;

export function planResume(
  workspace: Workspace,
  source: Source,
  conversation: ResumedConversation,
  options: { copy?: boolean } = {},
): ResumePlan {
  const { agent, notes } = conversation;
  const { forker, profile } = agent;
  const asIs = options.copy ? null : goesOnAsItIs(workspace, source, conversation);
  if (asIs) return { chat: asIs, write: null, replaces: null, notes };
  if (!forker) {
    throw new ResumeError("not-found", { kind: "resume-unsupported", agent: profile.display_name });
  }
  const ready = options.copy ? null : alreadyThere(workspace, source, conversation);
  if (ready) return { chat: ready, write: null, replaces: null, notes };
  const isBack = !options.copy && isGone(source, conversation);
  const own = isBack ? tryFork(workspace, conversation, conversation.session, true) : undefined;
  const kept = own && !TIMED.test(basename(own.transcriptPath)) ? own : undefined;
  const forked = kept ?? tryFork(workspace, conversation, newSessionId(), false);
  if (!forked || forked.content.length === 0) {
    throw new ResumeError("not-found", { kind: "conversation-empty" });
  }
  const root = transcriptRoot(agent, pathFor(workspace, conversation));
  const files = forked.files ?? [];
  for (const path of [forked.transcriptPath, ...files.map((file) => file.path)]) requireInside(root, path);
  const chat = {
    agent: profile.id,
    session: forked.sessionId,
    transcript: forked.transcriptPath,
    ...shownCommand(forked.command ?? forker.resumeCommand(forked.sessionId)),
  };
  const standing = inTheWay(forked, conversation);
  if (standing === "same") return { chat, write: null, replaces: null, notes };
  return { chat, write: { content: forked.content, files, root }, replaces: standing, notes };
}

/** Resumes in place if the agent still has the whole session and its directory exists. */
function goesOnAsItIs(workspace: Workspace, source: Source, conversation: ResumedConversation): ChatReceipt | null {
  const { agent, session, path } = conversation;
  if (source.kind !== "step" || !source.isNewest || path === null || !existsSync(path)) return null;
  const cwd = loadSession(workspace, sessionKey(agent.profile.id, session))?.cwd;
  if (cwd === undefined || !existsSync(cwd)) return null;
  const command = agent.forker?.resumeCommand(session) ?? resumeCommand(agent.profile, session);
  if (command.steps.length === 0) return null;
  const there = isInside(workspace.root, cwd) ? command : { ...command, cwd };
  return { agent: agent.profile.id, session, transcript: path, ...shownCommand(there) };
}

/** A checkpoint's conversation that the agent has byte for byte: nothing to write or confirm. */
function alreadyThere(workspace: Workspace, source: Source, conversation: ResumedConversation): ChatReceipt | null {
  const { agent, session, bytes } = conversation;
  if (source.kind !== "checkpoint" || !agent.forker) return null;
  const known = loadSession(workspace, sessionKey(agent.profile.id, session))?.transcript?.path;
  for (const transcript of [known, transcriptOf(workspace, conversation)]) {
    if (transcript === undefined || !holds(transcript, bytes)) continue;
    return { agent: agent.profile.id, session, transcript, ...shownCommand(agent.forker.resumeCommand(session)) };
  }
  return null;
}

/** The session's transcript path; undefined if the agent would not accept the id. */
function transcriptOf(workspace: Workspace, { agent, session }: ResumedConversation): string | undefined {
  try {
    return resolveSessionFile(agent, sessionDirectory(agent, workspace.root), session);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function holds(path: string, bytes: Uint8Array): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  return size === bytes.length && readFileSync(path).equals(bytes);
}

/** True if the session is not on this machine, so that it may reuse its own id. */
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
    // The agent does not accept the foreign id.
    if (continued && error instanceof UserError) return undefined;
    throw error;
  }
}

/** Next to the original or another conversation of the agent; otherwise the agent's default location. */
function pathFor(workspace: Workspace, { agent, path }: ResumedConversation): string {
  if (path !== null) return path;
  const known = stepsIn(workspace).newest({ agent: agent.profile.id, hasTranscript: true })?.transcript;
  if (known) return known.path;
  const { id, transcript } = agent.profile;
  if (transcript?.in_store) return join(workspace.storeDir, id, "session.jsonl");
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
