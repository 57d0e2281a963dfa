/** `team leave`: revokes this machine's token on the hub and forgets it here. */
import { messageOf } from "../../../base/errors.ts";
import { oneLine } from "../../../base/text.ts";
import { HubError } from "../../../team/client.ts";
import { removeMembership, requireMembership } from "../../../team/membership.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { hubOf } from "../../shared/team.ts";
import { confirm, interrupted } from "../../terminal/ask.ts";
import type { Io } from "../../terminal/io.ts";
import type { teamLeaveCommand } from "./commands.ts";

type Options = OptionsOf<typeof teamLeaveCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const membership = requireMembership();
  if (!options.yes && !(await confirm(io, `Leave the team at ${membership.url}?`, "--yes"))) throw interrupted();
  const problem = await hubOf(membership)
    .leave()
    .then(() => null)
    .catch((error: unknown) => (error instanceof HubError && error.kind === "revoked" ? null : messageOf(error)));
  removeMembership();
  if (options.json) {
    io.json({ url: membership.url, revoked: problem === null });
    return;
  }
  io.say(`Left the team at ${membership.url}. This machine no longer sends anything.`);
  if (problem !== null)
    io.say(
      `The token could not be revoked: ${oneLine(problem)} Ask an administrator to run \`backtrail hub token revoke ${membership.device}\`.`,
    );
}
