/** Checks for checkpoints that failed to push, and for those that `git push` may include unintentionally. */
import { shorten } from "../../../base/text.ts";
import { sharesCheckpoints } from "../../../checkpoints/branch/location.ts";
import { type SharedBy, sharedBy } from "../../../checkpoints/branch/relocate.ts";
import { remoteStates } from "../../../checkpoints/sync/state.ts";
import type { Workspace } from "../../../git/workspace.ts";
import { type Finding, ok, warning } from "../finding.ts";

const SHOWN = 200;
const WHY: Readonly<Record<SharedBy, string>> = {
  entire: "the Entire CLI is enabled here, whose pre-push hook pushes it",
  remote: "a remote has it",
  others: "it holds checkpoints of another tool",
};

export async function checkSync(workspace: Workspace): Promise<Finding[]> {
  const found = remoteStates(workspace).flatMap(({ name, error }) => {
    if (!error) return [];
    const message = `Checkpoints could not be pushed to ${name} (${error.time}): ${shorten(error.message, SHOWN)}`;
    return [warning("sync", message, `\`backtrail sync push ${name}\` tries it again.`)];
  });
  const why = workspace.kind === "private" || sharesCheckpoints(workspace) ? null : await sharedBy(workspace);
  if (why !== null) {
    const message = `The branch entire/checkpoints/v1 stays in your repository, since ${WHY[why]}: \`git push --all\` takes it along.`;
    found.push(
      warning(
        "sync",
        message,
        "`git push <remote> 'refs/heads/*' '^refs/heads/entire/*'` pushes all branches but this.",
      ),
    );
  }
  return found.length > 0 ? found : [ok("sync", "no push of checkpoints failed")];
}
