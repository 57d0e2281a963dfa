/** `team send`: sends what waits, now. */
import { UserError } from "../../../base/errors.ts";
import { oneLine, plural } from "../../../base/text.ts";
import { requireMembership } from "../../../team/membership.ts";
import { COMMAND_WAIT_MS, send } from "../../../team/send.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { failureHint, teamWorkspace } from "../../shared/team.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { teamSendCommand } from "./commands.ts";

type Options = OptionsOf<typeof teamSendCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const workspace = teamWorkspace(io);
  const membership = requireMembership();
  const result = await withProgress(io, "Sending to the hub", () => send(workspace, membership, COMMAND_WAIT_MS));
  if (result.kind === "failed")
    throw new UserError("failed", oneLine(result.failure.message), failureHint(result.failure.kind));
  if (result.kind === "busy")
    throw new UserError("failed", "Another process is sending.", "`backtrail team status` says when it is done.");
  if (result.kind === "not-shared")
    throw new UserError("not-found", "This repository shares nothing.", "Start with `backtrail team share`.");
  if (options.json) {
    io.json(result);
    return;
  }
  const forgotten = result.forgotten > 0 ? ` ${plural(result.forgotten, "session")} forgotten there.` : "";
  const refused = result.refused > 0 ? ` The hub rejected ${plural(result.refused, "turn")}.` : "";
  io.say(
    `${result.turns === 0 ? "The hub has everything." : `Sent ${plural(result.turns, "turn")}.`}${refused}${forgotten}`,
  );
}
