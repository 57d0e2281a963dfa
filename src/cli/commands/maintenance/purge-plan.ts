/** Renders what a purge would remove, and what it left. */
import { plural, printable, shortSession } from "../../../base/text.ts";
import { CHECKPOINT_BRANCH } from "../../../checkpoints/format/layout.ts";
import type { Workspace } from "../../../git/workspace.ts";
import type { PurgePlan } from "../../../maintenance/purge/plan.ts";
import { placeOf } from "../../render/layout/location.ts";
import type { Channel } from "../../terminal/io.ts";

const BRANCH = CHECKPOINT_BRANCH.replace("refs/heads/", "");

export function planLines(plan: PurgePlan, workspace: Workspace, { paint }: Channel): string[] {
  const { steps, sessions, refs, files, objects } = plan;
  const store = placeOf(workspace.storeDir, workspace.root);
  const goes = [
    `${plural(steps, "step")} of ${plural(sessions, "session")}, with their conversations`,
    `${plural(files.count, "file")} in ${store}, ${size(files.bytes)}`,
  ];
  if (refs > 0) goes.push(plural(refs, "ref"));
  if (objects.bytes > 0)
    goes.push(`${objects.loose > 0 ? plural(objects.loose, "git object") : "all git objects"}, ${size(objects.bytes)}`);
  if (plan.privateCheckpoints) goes.push("the checkpoints of your commits; `backtrail why` and `explain` need them");
  if (plan.publicCheckpoints && plan.checkpoints) goes.push(`the branch ${BRANCH}`);
  if (plan.keptFiles > 0) goes.push(`${plural(plan.keptFiles, "set")} of files that exist only as copies of restores`);
  if (plan.droppedHistories > 0)
    goes.push(`the commits of ${plural(plan.droppedHistories, "dropped branch", "dropped branches")}`);
  if (plan.disable) goes.push("Backtrail's hooks");
  const lines = [
    paint("bold", "Delete everything that was recorded here"),
    ...goes.map((what) => `  ${paint("red", "-")} ${what}`),
  ];
  for (const { agent, session } of plan.open)
    lines.push(`  ${paint("yellow", "!")} ${printable(agent)} is still open (session ${shortSession(session)})`);
  for (const fork of plan.forks)
    lines.push(`  ${paint("yellow", "!")} the fork ${printable(fork)} must be dropped first`);
  if (plan.publicCheckpoints && !plan.checkpoints)
    lines.push(`  The branch ${BRANCH} stays; --checkpoints removes it.`);
  return lines;
}

export function receiptLines(plan: PurgePlan, isRecording: boolean): string[] {
  const lines = [`Deleted ${plural(plan.steps, "step")} and everything else that was recorded here.`];
  if (plan.objects.packed > 0)
    lines.push(
      `Git has packed ${plural(plan.objects.packed, "object")} of them; \`git gc --prune=now\` removes these.`,
    );
  if (plan.publicCheckpoints && plan.checkpoints)
    lines.push("Earlier commits of the branch may be left in git's objects; `git gc --prune=now` removes these.");
  if (isRecording) lines.push("Recording is still on; turn it off with `backtrail disable`.");
  return lines;
}

function size(bytes: number): string {
  return bytes < 100_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
