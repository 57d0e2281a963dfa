/** `team share [level]`: chooses what the current repository shares. */
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { oneLine } from "../../../base/text.ts";
import type { Workspace } from "../../../git/workspace.ts";
import type { Level } from "../../../team/levels.ts";
import { type Membership, requireMembership, writeMembership } from "../../../team/membership.ts";
import { COMMAND_WAIT_MS, send } from "../../../team/send.ts";
import { readShare, removeShare, repositoryName, type Share, writeShare } from "../../../team/sharing.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { ask, requireLevel, teamWorkspace } from "../../shared/team.ts";
import type { Io } from "../../terminal/io.ts";
import type { teamShareCommand } from "./commands.ts";

type Options = OptionsOf<typeof teamShareCommand>;

const MEANING: Readonly<Record<Level, string>> = {
  counts: "counts only: no prompts, no file names",
  prompts: "counts, prompts and file names, redacted",
  everything: "whole conversations, redacted",
};

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = teamWorkspace(io);
  const membership = await currentMembership();
  if (membership.role === "reader")
    throw new UserError(
      "refused",
      "You are a reader of this team: readers send nothing.",
      "An administrator can make you a member.",
    );
  if (options.level === "nothing") return stop(workspace, membership, options, io);
  const level = requireLevel(options.level ?? "counts", ["nothing"]);
  const before = readShare(workspace);
  const share = writeShare(workspace, {
    level,
    repository: options.as ?? before?.repository ?? (await repositoryName(workspace)),
    since: options.fromNow ? now().toISOString() : (before?.since ?? null),
  });
  const result = await send(workspace, membership, COMMAND_WAIT_MS);
  if (options.json) {
    io.json({ repository: share.repository, level, since: share.since, result });
    return;
  }
  io.say(`${oneLine(share.repository)} shares ${MEANING[level]}.`);
  if (result.kind === "failed")
    io.say(`The hub was not told yet: ${oneLine(result.failure.message)} Backtrail tries again.`);
}

/** A reader may have become a member since this machine joined. */
async function currentMembership(): Promise<Membership> {
  const membership = requireMembership();
  if (membership.role !== "reader") return membership;
  const { role } = await ask((hub) => hub.me());
  if (role !== membership.role) writeMembership({ ...membership, role });
  return { ...membership, role };
}

/** Lowers the level first, so that the hub deletes texts; counts stay. */
async function stop(workspace: Workspace, membership: Membership, options: Options, io: Io): Promise<undefined> {
  const share = readShare(workspace);
  if (!share) throw new UserError("not-found", "This repository shares nothing.");
  await removeTexts(workspace, membership, share);
  removeShare(workspace);
  if (options.json) io.json({ repository: share.repository, level: null });
  else
    io.say(
      `${oneLine(share.repository)} no longer shares anything. Texts were removed from the hub; counts of earlier turns stay.`,
    );
}

async function removeTexts(workspace: Workspace, membership: Membership, share: Share): Promise<void> {
  // Turns from now on only, so that nothing else is sent on the way out.
  writeShare(workspace, { level: "counts", repository: share.repository, since: now().toISOString() });
  const result = await send(workspace, membership, COMMAND_WAIT_MS);
  if (result.kind === "sent") return;
  const why = result.kind === "failed" ? result.failure.message : "Another process is sending.";
  throw new UserError(
    "failed",
    `Texts are still on the hub: ${oneLine(why)}`,
    "Until then, only counts are sent from here. Run this again when the hub can be reached.",
  );
}
