/**
 * `sync fetch [remote]`: fetches and verifies another repository's checkpoints, and merges them with the local ones.
 */

import { plural } from "../../../base/text.ts";
import { fetch } from "../../../checkpoints/sync/sync.ts";
import type { OptionsOf } from "../../program/spec.ts";
import { interruptible, shownName, syncPlace } from "../../shared/sync.ts";
import type { Io } from "../../terminal/io.ts";
import { withProgress } from "../../terminal/progress.ts";
import type { syncFetchCommand } from "./commands.ts";

type Options = OptionsOf<typeof syncFetchCommand>;

export async function run(options: Options, io: Io): Promise<undefined> {
  const { workspace, remote, seconds } = await syncPlace(io, options.remote, { mustChoose: false });
  const { theirs, changed, joined, refs, offeredRefs } = await interruptible((signal) =>
    withProgress(io, `Fetching from ${shownName(remote)}`, () => fetch(workspace, remote, { seconds, signal })),
  );
  if (options.json) {
    io.json({ remote: remote.name, fetched: changed, joined, refs });
    return;
  }
  const name = shownName(remote);
  const added = changed.length + refs.added;
  if (theirs === null && offeredRefs === 0) io.say(`${name} has no checkpoints.`);
  else if (added === 0) io.say(`Every checkpoint of ${name} is here.`);
  else io.say(`Fetched ${plural(added, "checkpoint")} from ${name}.`);
  if (joined)
    io.say("Both sides had new checkpoints, which are now merged. Push the result with `backtrail sync push`.");
  if (refs.left > 0)
    io.say(`${plural(refs.left, "checkpoint")} in a separate ref differs from the one here, and was left as it is.`);
}
