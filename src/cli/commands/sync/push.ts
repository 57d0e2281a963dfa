/** `sync push [remote]`: pushes the checkpoints, merged with those that the remote has. */

import { plural } from "../../../base/text.ts";
import { hasCheckpoints } from "../../../checkpoints/branch/location.ts";
import { completeRequest, requestedPush } from "../../../checkpoints/sync/state.ts";
import { push } from "../../../checkpoints/sync/sync.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { interruptible, shownName, syncPlace } from "../../shared/sync.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { syncPushCommand } from "./commands.ts";

type Options = OptionsOf<typeof syncPushCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { workspace, remote, seconds, isChosen } = await syncPlace(io, options.remote, { mustChoose: true });
  const request = requestedPush(workspace);
  const result = await interruptible((signal) =>
    withProgress(io, `Pushing to ${shownName(remote)}`, () =>
      push(workspace, remote, { seconds, signal, anyway: options.anyway === true }),
    ),
  );
  // This push also fulfills the pending background request.
  if (request && isChosen) completeRequest(workspace, request);
  if (options.json) {
    io.json({ remote: remote.name, ...result });
    return;
  }
  const came = result.fetched.length > 0 ? ` ${plural(result.fetched.length, "checkpoint")} came from there.` : "";
  if (!hasCheckpoints(workspace)) io.say("There are no checkpoints to push.");
  else if (result.pushed.length === 0) io.say(`${shownName(remote)} has every checkpoint.${came}`);
  else io.say(`Pushed ${plural(result.pushed.length, "checkpoint")} to ${shownName(remote)}.${came}`);
}
