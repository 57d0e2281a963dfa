/** Resolves the conversation to resume: by session, step, branch, commit or checkpoint. */

import { isCheckpointName } from "../../checkpoints/format/layout.ts";
import { findCommit, type LinkedCommit, recentCommits } from "../../checkpoints/links/history.ts";
import type { CheckpointReader, StoredCheckpoint, StoredSession } from "../../checkpoints/read/read.ts";
import { findSession, sessionsBehind } from "../../checkpoints/read/sessions.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type SessionRef, sessionRefKey } from "../../model/session.ts";
import { type Step, TIMELINE_KINDS } from "../../model/step.ts";
import { keptSteps } from "../../steps/conversation/kept.ts";
import { stepsIn } from "../../steps/log.ts";

import type { ResumeNote } from "../notes.ts";
import { RestoreError } from "../problems.ts";
import { resolveTarget } from "../targets/resolve.ts";
import { ResumeError } from "./problems.ts";

export type Source = StepSource | CheckpointSource;

/** A conversation recorded here, up to a step. */
export interface StepSource {
  kind: "step";
  step: Step;
  /** True if the session has no later step. */
  isNewest: boolean;
}

/** A checkpoint's conversation, which may come from any machine. */
export interface CheckpointSource {
  kind: "checkpoint";
  checkpoint: string;
  session: StoredSession;
}

export interface Found {
  source: Source;
  /** Messages for the user. */
  notes: ResumeNote[];
}

const MAX_COMMITS = 100;

export async function findSource(
  workspace: Workspace,
  reader: CheckpointReader,
  text: string,
  session: string | undefined,
): Promise<Found> {
  const wanted = text.trim();
  if (wanted === "") throw new RestoreError("usage", { kind: "empty-target" });
  const checkpoint = isCheckpointName(wanted) ? await reader.find(wanted) : undefined;
  if (checkpoint) return fromCheckpoint(workspace, checkpoint, session);
  const ofBranch = await fromBranch(workspace, reader, wanted, session);
  if (ofBranch) return ofBranch;
  const named = wanted.length < 4 ? undefined : await findSession(workspace, wanted);
  if (named) return { source: ofSession(workspace, named), notes: [] };
  const commit = await findCommit(workspace, wanted);
  if (commit) return fromCommit(workspace, reader, commit, session);
  const target = await resolveTarget(workspace, wanted);
  if (target.kind === "step" && target.step.session !== null)
    return { source: atStep(workspace, target.step), notes: [] };
  if (target.kind === "commit") throw new ResumeError("not-found", { kind: "checkpoint-missing", checkpoint: wanted });
  throw new ResumeError("not-found", { kind: "step-without-conversation" });
}

/** Steps that show that the conversation went on; the others are saved without it. */
const CONVERSATION_KINDS = TIMELINE_KINDS.filter((kind) => kind !== "manual");

export interface RecentSession {
  /** The newest step. */
  step: Step;
  /** The newest prompt; the newest step may have been saved outside of any turn. */
  prompt: string | null;
}

/** Sessions that have a conversation, newest first. */
export function recentSessions(workspace: Workspace, limit: number): RecentSession[] {
  const found = new Map<string, RecentSession>();
  for (const step of stepsIn(workspace).newestFirst()) {
    if (step.session === null || step.agent === null) continue;
    const key = sessionRefKey(step);
    const known = found.get(key);
    if (known) known.prompt ??= step.prompt;
    else if (step.transcript && found.size < limit) found.set(key, { step, prompt: step.prompt });
    if (found.size === limit && found.values().every(({ prompt }) => prompt !== null)) break;
  }
  return [...found.values()];
}

export function atStep(workspace: Workspace, step: Step): StepSource {
  const { id, agent, session } = step;
  const log = stepsIn(workspace);
  const isNewest = !log.has({ after: id, agent, session, kinds: CONVERSATION_KINDS }) && log.has({ id });
  return { kind: "step", step, isNewest };
}

function ofSession(workspace: Workspace, { agent, session }: SessionRef): StepSource {
  const step = stepsIn(workspace).newest({ agent, session, hasTranscript: true });
  if (step) return { kind: "step", step, isNewest: true };
  const [kept] = keptSteps(workspace, agent, session);
  if (kept) return { kind: "step", step: kept, isNewest: true };
  // The agent may have the conversation although it is not recorded.
  const last = stepsIn(workspace).newest({ agent, session, kinds: CONVERSATION_KINDS });
  if (last) return { kind: "step", step: last, isNewest: true };
  throw new ResumeError("not-found", { kind: "session-not-recorded", session });
}

async function fromBranch(
  workspace: Workspace,
  reader: CheckpointReader,
  name: string,
  session: string | undefined,
): Promise<Found | undefined> {
  // HEAD means the commit, not the branch it points to.
  if (workspace.kind === "private" || name === "HEAD" || name.includes("\0")) return undefined;
  const ask = ["rev-parse", "--verify", "--quiet", "--symbolic-full-name", "--end-of-options", name];
  const ref = (await gitIn(workspace).try(ask)).stdout.toString("utf8").trim().split("\n").at(-1) ?? "";
  if (!/^refs\/(heads|remotes)\//.test(ref)) return undefined;
  const short = ref.replace(/^refs\/(heads|remotes\/[^/]+)\//, "");
  const last = stepsIn(workspace)
    .newestFirst({ hasTranscript: true })
    .find((step) => step.branch === short && step.session !== null);
  if (last) return { source: atStep(workspace, last), notes: [] };
  for (const commit of await recentCommits(workspace, MAX_COMMITS, false, ref)) {
    const found = await fromCheckpoints(workspace, reader, commit, session);
    if (found) return found;
  }
  throw new ResumeError("not-found", { kind: "branch-without-session", branch: short });
}

async function fromCommit(
  workspace: Workspace,
  reader: CheckpointReader,
  commit: LinkedCommit,
  session: string | undefined,
): Promise<Found> {
  const found = await fromCheckpoints(workspace, reader, commit, session);
  if (found) return found;
  const sessions = await sessionsBehind(workspace, commit.id);
  const id = sessions.at(-1)?.turns.at(-1)?.step;
  const step = id ? stepsIn(workspace).byId(id) : undefined;
  if (step) return { source: atStep(workspace, step), notes: [] };
  throw new ResumeError("not-found", { kind: "commit-without-session", commit: commit.id });
}

async function fromCheckpoints(
  workspace: Workspace,
  reader: CheckpointReader,
  commit: LinkedCommit,
  session: string | undefined,
): Promise<Found | undefined> {
  for (const id of commit.checkpoints) {
    const checkpoint = await reader.find(id);
    if (checkpoint) return fromCheckpoint(workspace, checkpoint, session);
  }
  return undefined;
}

/** Prefers our own recording, which is exact, to the checkpoint's copy. */
function fromCheckpoint(workspace: Workspace, checkpoint: StoredCheckpoint, session: string | undefined): Found {
  const usable = checkpoint.sessions.filter(({ hasTranscript }) => hasTranscript);
  const chosen =
    session === undefined
      ? usable.at(-1)
      : usable.find(({ metadata }) => session !== "" && metadata.session_id.startsWith(session));
  if (!chosen) {
    throw new ResumeError("not-found", {
      kind: "session-not-in-checkpoint",
      checkpoint: checkpoint.id,
      sessions: usable.map(({ metadata }) => metadata.session_id),
    });
  }
  const others = usable.filter((each) => each !== chosen).map(({ metadata }) => metadata.session_id);
  const notes =
    others.length > 0 && session === undefined ? [{ kind: "other-sessions" as const, sessions: others }] : [];
  const step = recordedHere(workspace, chosen);
  if (step) return { source: atStep(workspace, step), notes };
  return { source: { kind: "checkpoint", checkpoint: checkpoint.id, session: chosen }, notes };
}

/** The step where the checkpoint's conversation ends, if it belongs to the same session. */
function recordedHere(workspace: Workspace, { record }: StoredSession): Step | undefined {
  const last = record?.steps.at(-1)?.id;
  if (!record || last === undefined) return undefined;
  const { agent, session } = record;
  return stepsIn(workspace)
    .newestFirst({ agent, session })
    .find(({ id }) => id === last);
}
