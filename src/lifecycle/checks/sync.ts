/** Checkpoints that should have left for another machine. */
import { shorten } from "../../base/text.ts";
import { remoteStates } from "../../checkpoints/sync/state.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type Finding, ok, warning } from "../finding.ts";

const SHOWN = 200;

export function checkSync(workspace: Workspace): Finding[] {
  const failed = remoteStates(workspace).flatMap(({ name, error }) => {
    if (!error) return [];
    const message = `Checkpoints could not be pushed to ${name} (${error.time}): ${shorten(error.message, SHOWN)}`;
    return [warning("sync", message, `\`backtrail sync push ${name}\` tries it again.`)];
  });
  return failed.length > 0 ? failed : [ok("sync", "no push of checkpoints failed")];
}
