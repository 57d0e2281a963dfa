/** `sync push [remote]`: the checkpoints to another repository, joined with what it has. */
import { plural } from "../../../base/text.ts";
import { CHECKPOINT_BRANCH } from "../../../checkpoints/layout.ts";
import { fulfilled, wishedPush } from "../../../checkpoints/sync/state.ts";
import { push } from "../../../checkpoints/sync/sync.ts";
import { readRef } from "../../../git/refs.ts";
import type { Io } from "../../io.ts";
import { withProgress } from "../../progress.ts";
import { interruptible, shownName, syncPlace } from "../../syncing.ts";

interface Options {
  remote?: string;
  anyway?: boolean;
  json?: boolean;
}

export async function run(options: Options, io: Io): Promise<undefined> {
  const { workspace, remote, seconds, isChosen } = await syncPlace(io, options.remote, { mustChoose: true });
  const wish = wishedPush(workspace);
  const result = await interruptible((signal) =>
    withProgress(io, `Pushing to ${shownName(remote)}`, () =>
      push(workspace, remote, { seconds, signal, anyway: options.anyway === true }),
    ),
  );
  // What waited to be pushed there has been.
  if (wish && isChosen) fulfilled(workspace, wish);
  if (options.json) {
    io.json({ remote: remote.name, ...result });
    return;
  }
  const came = result.fetched.length > 0 ? ` ${plural(result.fetched.length, "checkpoint")} came from there.` : "";
  if (!(await readRef(workspace, CHECKPOINT_BRANCH))) io.say("There are no checkpoints to push.");
  else if (result.pushed.length === 0) io.say(`${shownName(remote)} has every checkpoint.${came}`);
  else io.say(`Pushed ${plural(result.pushed.length, "checkpoint")} to ${shownName(remote)}.${came}`);
}
