/** `team join <link>`: exchanges an invitation for this machine's token, and shares the current repository's counts. */
import { hostname } from "node:os";
import { now } from "../../../base/clock.ts";
import { UserError } from "../../../base/errors.ts";
import { oneLine } from "../../../base/text.ts";
import { findWorkspace, isEnabled } from "../../../git/workspace.ts";
import { startSender } from "../../../recording/start-worker.ts";
import { HubClient, HubError, parseHubLink } from "../../../team/client.ts";
import { readMembership, writeMembership } from "../../../team/membership.ts";
import { readShare, repositoryName, writeShare } from "../../../team/sharing.ts";
import { removeSendState } from "../../../team/state.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { asUserError } from "../../shared/team.ts";
import type { Io } from "../../terminal/io.ts";
import type { teamJoinCommand } from "./commands.ts";

type Options = OptionsOf<typeof teamJoinCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { url, invitation } = parseHubLink(options.link, { insecure: options.insecure === true });
  if (invitation === "")
    throw new UserError(
      "usage",
      "This link has no invitation.",
      "It ends with `#bti_…`; `backtrail hub token invite` prints it.",
    );
  const before = readMembership();
  if (before)
    throw new UserError(
      "refused",
      `This machine already belongs to the team at ${before.url}.`,
      "Run `backtrail team leave` first.",
    );
  const device = options.device ?? hostname();
  const joined = await new HubClient(url, null).join({ invitation, device }).catch((error: unknown) => {
    if (!(error instanceof HubError) || error.answer !== "invitation") throw asUserError(error);
    throw new UserError("failed", error.message, "Ask for another one: `backtrail hub token invite` prints it.");
  });
  writeMembership({ v: 1, url, ...joined, joinedAt: now().toISOString() });
  const shared = joined.role === "reader" ? null : await shareHere(io);
  if (options.json) {
    io.json({ url, person: joined.person, role: joined.role, device: joined.device, repository: shared });
    return;
  }
  io.say(`Joined the team at ${url} as ${oneLine(joined.person)} (${joined.role}).`);
  if (shared)
    io.say(
      `This repository (${oneLine(shared)}) shares counts. \`backtrail team preview\` shows what is sent; \`backtrail team share\` changes the level.`,
    );
  else if (joined.role !== "reader") io.say("No repository shares anything yet: run `backtrail team share` in one.");
}

/** Shares nothing where Backtrail does not record. */
async function shareHere(io: Io): Promise<string | null> {
  const workspace = findWorkspace(io.cwd);
  if (!workspace || !isEnabled(workspace)) return null;
  // Whatever an earlier hub has acknowledged, this one has not.
  removeSendState(workspace);
  const { repository, since } = readShare(workspace) ?? { repository: await repositoryName(workspace), since: null };
  writeShare(workspace, { level: "counts", repository, since });
  startSender(workspace);
  return repository;
}
