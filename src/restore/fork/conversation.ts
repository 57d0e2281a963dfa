/** Sets up a fork's conversation: stages it, notes it in the record, then writes it where the agent looks. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf, UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { makeDirectory } from "../../base/fs/files.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type ShownCommand, shownCommand, type UserCommand } from "../../model/command.ts";
import { type ForkRecord, forkDirectory, writeForkRecord } from "../../steps/forks.ts";
import { planChat, prepareFork, stageFork, writeFork } from "../conversation/fork.ts";
import { handoffAt } from "../conversation/handoff.ts";
import type { ForkNote } from "../notes.ts";
import type { StateTarget } from "../types.ts";

/** Returns notes that explain why there is no conversation. A missing conversation does not hold up the files. */
export async function continueIn(
  workspace: Workspace,
  place: Workspace,
  record: ForkRecord,
  target: StateTarget,
): Promise<ForkNote[]> {
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
    return [{ kind: "copy-failed", reason: messageOf(error) }];
  }
}

/** Deletes the staged conversation after it has been written. */
export function removeStaged(workspace: Workspace, record: ForkRecord): void {
  rmSync(forkDirectory(workspace, record.id), { recursive: true, force: true });
}

/** The command, usable from any directory. */
function commandFrom({ directory, branch }: ForkRecord, command: UserCommand | undefined): ShownCommand {
  const { steps } = command ?? { steps: [] };
  if (directory !== null) return shownCommand({ cwd: directory, steps });
  const toBranch = branch === null ? [] : [{ program: "git", args: ["switch", branch] }];
  return shownCommand({ cwd: null, steps: [...toBranch, ...steps] });
}

async function layConversation(
  workspace: Workspace,
  place: Workspace,
  record: ForkRecord,
  target: StateTarget,
): Promise<ForkNote | null> {
  if (target.kind === "commit") return { kind: "commit-forked" };
  const plan = await planChat(workspace, target.step);
  if (plan.kind !== "fork") return plan.kind === "none" ? { kind: "no-conversation", reason: plan.reason } : null;
  const fork = await prepareFork(place, target.step);
  if ("kind" in fork) return { kind: "no-conversation", reason: fork };
  const file = staged(workspace, record);
  removeStaged(workspace, record);
  makeDirectory(forkDirectory(workspace, record.id));
  stageFork(file, fork);
  const { agent, session, transcript, start, root } = fork;
  record.chat = {
    agent,
    session,
    file: transcript,
    ...commandFrom(record, start),
  };
  if (record.making) record.making.chatRoot = root;
  return null;
}

async function layHandOver(
  workspace: Workspace,
  place: Workspace,
  record: ForkRecord,
  target: StateTarget,
): Promise<ForkNote | null> {
  const wanted = record.making?.handOver;
  if (!wanted) return null;
  if (target.kind === "commit") return { kind: "commit-not-handed-off" };
  const handed = await handoffAt(workspace, target.step, {
    ...wanted,
    name: record.id,
    roots: [place.root, workspace.root],
  });
  record.chat = {
    agent: handed.agent,
    session: null,
    file: handed.file,
    ...commandFrom(record, handed.start),
  };
  return null;
}

function staged(workspace: Workspace, record: ForkRecord): string {
  const directory = forkDirectory(workspace, record.id);
  if (!existsSync(directory)) makeDirectory(directory);
  return join(directory, "chat");
}
