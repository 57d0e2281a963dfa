/** Writes a conversation where its agent finds it. Keeps a replaced transcript. */

import { chmodSync, constants, copyFileSync, existsSync } from "node:fs";
import { basename, join } from "node:path";
import { faultPoint } from "../../base/fault-point.ts";
import { makeDirectory, writeFileAtomic } from "../../base/fs/files.ts";
import { newStepId } from "../../base/ids.ts";
import type { Workspace } from "../../git/workspace.ts";
import { requireInside } from "../conversation/fork.ts";
import type { ResumeNote } from "../notes.ts";
import type { ChatReceipt } from "../types.ts";
import type { ResumePlan } from "./plan.ts";
import { ResumeError } from "./problems.ts";

export interface Resumed {
  chat: ChatReceipt;
  /** The transcript's path, if it was written. */
  written: string | null;
  /** The path of the kept copy of a replaced transcript. */
  kept: string | null;
  notes: ResumeNote[];
}

export function applyResume(workspace: Workspace, plan: ResumePlan): Resumed {
  const { chat, write, replaces, notes } = plan;
  if (!write) return { chat, written: null, kept: null, notes };
  const kept = replaces ? setAside(workspace, replaces.path) : null;
  faultPoint("resume:kept");
  // The transcript comes last, because it makes the session visible to the agent.
  for (const { path, content } of [...write.files, { path: chat.transcript, content: write.content }]) {
    requireInside(write.root, path);
    if (existsSync(path) && path !== replaces?.path) {
      throw new ResumeError("refused", { kind: "transcript-appeared", path });
    }
    writeFileAtomic(path, content, { sync: true });
  }
  faultPoint("resume:written");
  return { chat, written: chat.transcript, kept, notes };
}

/** Copies instead of moving, so that the agent always has one of the two: the new one replaces the old atomically. */
function setAside(workspace: Workspace, path: string): string {
  const directory = join(workspace.stateDir, "kept", newStepId());
  makeDirectory(directory);
  const place = join(directory, basename(path));
  copyFileSync(path, place, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  chmodSync(place, 0o600);
  return place;
}
