/** Which conversation a person means to go on with: by session, step, branch, commit or checkpoint. */
import { UserError } from "../../base/errors.ts";
import { oneLine, shorten } from "../../base/text.ts";
import { findCommit, type LinkedCommit, recentCommits } from "../../checkpoints/history.ts";
import { isCheckpointName } from "../../checkpoints/layout.ts";
import type { CheckpointReader, StoredCheckpoint, StoredSession } from "../../checkpoints/read.ts";
import { findSession, type SessionName, sessionsBehind } from "../../checkpoints/sessions.ts";
import { gitLocation } from "../../git/location.ts";
import { tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { stepsNewestFirst } from "../../steps/index-file.ts";
import { findStep } from "../../steps/list.ts";
import type { Step } from "../../steps/model.ts";
import { resolveTarget } from "../target.ts";

export type Source = StepSource | CheckpointSource;

/** A conversation that was recorded here, up to a step. */
export interface StepSource {
  kind: "step";
  step: Step;
  /** Nothing came after it in its session. */
  isNewest: boolean;
}

/** One that a checkpoint has, which may have come from anywhere. */
export interface CheckpointSource {
  kind: "checkpoint";
  checkpoint: string;
  session: StoredSession;
}

export interface Found {
  source: Source;
  /** Sentences for the user. */
  notes: string[];
}

const MOST_COMMITS = 100;

export async function findSource(
  workspace: Workspace,
  reader: CheckpointReader,
  text: string,
  session: string | undefined,
): Promise<Found> {
  const wanted = text.trim();
  if (wanted === "") throw new UserError("usage", "The target is empty.", "`backtrail log` shows what there is.");
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
  if (target.kind === "commit") throw new UserError("not-found", `The checkpoint ${wanted} is not here.`, FETCH);
  throw new UserError("not-found", "No conversation was recorded with that step.", "`backtrail log` shows the turns.");
}

/** The newest step of each session, newest first. */
export function recentSessions(workspace: Workspace, limit: number): Step[] {
  const found = new Map<string, Step>();
  for (const step of stepsNewestFirst(workspace)) {
    if (found.size >= limit) break;
    if (step.session === null || step.agent === null || !step.transcript) continue;
    const key = `${step.agent}\0${step.session}`;
    if (!found.has(key)) found.set(key, step);
  }
  return [...found.values()];
}

export function atStep(workspace: Workspace, step: Step): StepSource {
  for (const other of stepsNewestFirst(workspace)) {
    if (other.id === step.id) return { kind: "step", step, isNewest: true };
    if (
      other.session === step.session &&
      other.agent === step.agent &&
      other.kind !== "safety" &&
      other.kind !== "manual"
    )
      break;
  }
  return { kind: "step", step, isNewest: false };
}

function ofSession(workspace: Workspace, { agent, session }: SessionName): StepSource {
  for (const step of stepsNewestFirst(workspace)) {
    if (step.agent === agent && step.session === session && step.transcript)
      return { kind: "step", step, isNewest: true };
  }
  throw new UserError(
    "not-found",
    `The conversation of session ${shorten(oneLine(session), 40)} is not recorded here.`,
    "One that was imported lies where its agent keeps it: the agent itself can resume it.",
  );
}

async function fromBranch(
  workspace: Workspace,
  reader: CheckpointReader,
  name: string,
  session: string | undefined,
): Promise<Found | undefined> {
  // HEAD is a commit here, not the branch that it happens to be on.
  if (workspace.kind === "private" || name === "HEAD" || name.includes("\0")) return undefined;
  const { args, cwd } = gitLocation(workspace);
  const ask = [...args, "rev-parse", "--verify", "--quiet", "--symbolic-full-name", "--end-of-options", name];
  const ref = (await tryGit(ask, { cwd })).stdout.toString("utf8").trim().split("\n").at(-1) ?? "";
  if (!/^refs\/(heads|remotes)\//.test(ref)) return undefined;
  const short = ref.replace(/^refs\/(heads|remotes\/[^/]+)\//, "");
  for (const step of stepsNewestFirst(workspace)) {
    if (step.branch === short && step.session !== null && step.transcript) {
      return { source: atStep(workspace, step), notes: [] };
    }
  }
  for (const commit of await recentCommits(workspace, MOST_COMMITS, false, ref)) {
    const found = await fromCheckpoints(workspace, reader, commit, session);
    if (found) return found;
  }
  throw new UserError("not-found", `No session is recorded on the branch ${shorten(oneLine(short), 60)}.`, FETCH);
}

const FETCH = "If others have worked on it, fetch the branch entire/checkpoints/v1 from where they push.";

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
  const step = id ? findStep(workspace, id) : undefined;
  if (step) return { source: atStep(workspace, step), notes: [] };
  throw new UserError("not-found", `No session is recorded behind commit ${commit.id.slice(0, 12)}.`, FETCH);
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

/** What was recorded here is exact, so it counts before the checkpoint's copy of it. */
function fromCheckpoint(workspace: Workspace, checkpoint: StoredCheckpoint, session: string | undefined): Found {
  const usable = checkpoint.sessions.filter(({ hasTranscript }) => hasTranscript);
  const chosen =
    session === undefined
      ? usable.at(-1)
      : usable.find(({ metadata }) => session !== "" && metadata.session_id.startsWith(session));
  if (!chosen) {
    const ids = usable.map(({ metadata }) => shorten(oneLine(metadata.session_id), 40));
    const hint =
      ids.length > 0 ? `It has ${ids.join(", ")}.` : "Only its prompts are kept: `backtrail explain` shows them.";
    throw new UserError("not-found", `Checkpoint ${checkpoint.id} has no such conversation.`, hint);
  }
  const others = usable.filter((each) => each !== chosen).map(({ metadata }) => metadata.session_id);
  const notes =
    others.length > 0 && session === undefined ? [`It has other sessions too (--session): ${others.join(", ")}.`] : [];
  const step = recordedHere(workspace, chosen);
  if (step) return { source: atStep(workspace, step), notes };
  return { source: { kind: "checkpoint", checkpoint: checkpoint.id, session: chosen }, notes };
}

/** The step at which the checkpoint's conversation ends, if it is one of this very session's. */
function recordedHere(workspace: Workspace, { record }: StoredSession): Step | undefined {
  const last = record?.steps.at(-1)?.id;
  if (!record || last === undefined) return undefined;
  for (const step of stepsNewestFirst(workspace)) {
    if (step.id === last) return step.session === record.session && step.agent === record.agent ? step : undefined;
  }
  return undefined;
}
