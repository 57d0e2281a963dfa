/** The conversation of a fork: laid ready, noted in the record, then put where the agent looks for it. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { quoted } from "../../agents/resume.ts";
import { messageOf, UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault.ts";
import { makeDirectory } from "../../base/files.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type ForkRecord, forkDirectory, writeForkRecord } from "../../steps/forks.ts";
import { planChat, prepareFork, stageFork, writeFork } from "../chat.ts";
import { handOverAt } from "../hand-over.ts";
import type { Place } from "../model.ts";

/** Sentences for the user: why there is none. Files come first: a conversation that can't be had does not hold them up. */
export async function continueIn(
  workspace: Workspace,
  place: Workspace,
  record: ForkRecord,
  target: Place,
): Promise<string[]> {
  const { making } = record;
  if (!making) return [];
  try {
    if (record.chat === null) {
      const why = making.handOver
        ? await layHandOver(workspace, place, record, target)
        : await layConversation(workspace, place, record, target);
      if (why !== null) return [why];
      writeForkRecord(workspace, record);
    }
    faultPoint("fork:staged");
    if (record.chat && making.chatRoot !== null)
      writeFork(staged(workspace, record), making.chatRoot, record.chat.file);
    faultPoint("fork:chat");
    return [];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    record.chat = null;
    return [`The conversation could not be copied: ${messageOf(error)}`];
  }
}

/** What lay ready is in its place. */
export function removeStaged(workspace: Workspace, record: ForkRecord): void {
  rmSync(forkDirectory(workspace, record.id), { recursive: true, force: true });
}

/** The command as it is typed from anywhere. */
export function commandFrom(place: string | null, branch: string | null, command: string): string {
  if (place !== null) return `cd ${quoted(place)} && ${command}`;
  return branch === null ? command : `git switch ${quoted(branch)} && ${command}`;
}

async function layConversation(
  workspace: Workspace,
  place: Workspace,
  record: ForkRecord,
  target: Place,
): Promise<string | null> {
  if (target.kind === "commit") return "A commit has no conversation: the fork has the files alone.";
  const plan = await planChat(workspace, target.step);
  if (plan.kind !== "fork") return plan.kind === "none" ? plan.why : null;
  const fork = await prepareFork(place, target.step);
  if (typeof fork === "string") return fork;
  const file = staged(workspace, record);
  removeStaged(workspace, record);
  makeDirectory(forkDirectory(workspace, record.id));
  stageFork(file, fork);
  const { agent, session, transcript, command, root } = fork;
  record.chat = {
    agent,
    session,
    file: transcript,
    command: commandFrom(record.directory, record.branch, command),
  };
  if (record.making) record.making.chatRoot = root;
  return null;
}

async function layHandOver(
  workspace: Workspace,
  place: Workspace,
  record: ForkRecord,
  target: Place,
): Promise<string | null> {
  const wanted = record.making?.handOver;
  if (!wanted) return null;
  if (target.kind === "commit") return "A commit has no conversation: there is nothing to hand over.";
  const handed = await handOverAt(workspace, target.step, {
    ...wanted,
    name: record.id,
    roots: [place.root, workspace.root],
  });
  record.chat = {
    agent: handed.agent,
    session: null,
    file: handed.file,
    command: commandFrom(record.directory, record.branch, handed.command),
  };
  return null;
}

function staged(workspace: Workspace, record: ForkRecord): string {
  const directory = forkDirectory(workspace, record.id);
  if (!existsSync(directory)) makeDirectory(directory);
  return join(directory, "chat");
}
