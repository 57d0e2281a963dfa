/** Puts a conversation where its agent finds it. What stood there is kept. */
import { chmodSync, constants, copyFileSync, existsSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault.ts";
import { makeDirectory, writeFileAtomic } from "../../base/files.ts";
import { newStepId } from "../../base/ids.ts";
import { shownPath } from "../../base/text.ts";
import type { Workspace } from "../../git/workspace.ts";
import { requireInside } from "../chat.ts";
import type { ChatReceipt } from "../model.ts";
import type { ResumePlan } from "./plan.ts";

export interface Resumed {
  chat: ChatReceipt;
  /** The transcript, where it had to be written. */
  written: string | null;
  /** Where the one that was replaced is kept. */
  kept: string | null;
  notes: string[];
}

export function applyResume(workspace: Workspace, plan: ResumePlan): Resumed {
  const { chat, write, replaces, notes } = plan;
  if (!write) return { chat, written: null, kept: null, notes };
  const kept = replaces ? setAside(workspace, replaces.path) : null;
  faultPoint("resume:kept");
  // The transcript last: with it the agent finds the session.
  for (const { path, content } of [...write.files, { path: chat.transcript, content: write.content }]) {
    requireInside(write.root, path);
    if (existsSync(path) && path !== replaces?.path) {
      throw new UserError("refused", `${shownPath(path)} has appeared in the meantime and was left as it is.`);
    }
    writeFileAtomic(path, content, { sync: true });
  }
  faultPoint("resume:written");
  return { chat, written: chat.transcript, kept, notes };
}

/** A copy: the other takes its place in one move, so that the agent has one of the two at any moment. */
function setAside(workspace: Workspace, path: string): string {
  const directory = join(workspace.stateDir, "kept", newStepId());
  makeDirectory(directory);
  const place = join(directory, basename(path));
  copyFileSync(path, place, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  chmodSync(place, 0o600);
  return place;
}
