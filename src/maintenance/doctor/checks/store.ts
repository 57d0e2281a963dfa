/** Checks the store: its record, its steps and their objects, its size, and the clock. */
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { now } from "../../../base/clock.ts";
import { codeOf } from "../../../base/errors.ts";
import { plural } from "../../../base/text.ts";
import { loadConfig } from "../../../config/load.ts";
import { showSize } from "../../../config/values.ts";
import { readStore, type Workspace } from "../../../git/workspace.ts";
import { stepsNewestFirst } from "../../../steps/index-file.ts";
import { countedSize, sizeOfSteps } from "../../../steps/upkeep/retention.ts";
import { neededByRestores } from "../../expiry.ts";
import { type Finding, ok, problem, some, warning, within } from "../finding.ts";
import { brokenConversations, compareIndex, missingObjects } from "../store-check.ts";

const FUTURE_MS = 5 * 60 * 1000;

export function checkStore(workspace: Workspace): Finding[] {
  const record = readStore(workspace);
  if (!record)
    return [
      problem(
        "store",
        "The record of what was installed here (store.json) is damaged.",
        "`backtrail enable` with the same agents writes it anew.",
      ),
    ];
  if (record.v !== 1)
    return [problem("store", "The store was written by another version of Backtrail.", "Use the newer Backtrail.")];
  try {
    accessSync(workspace.storeDir, constants.W_OK);
    accessSync(join(workspace.commonDir, "objects"), constants.W_OK);
  } catch (error) {
    const place = within(workspace, workspace.storeDir);
    return [problem("store", `The store cannot be written (${codeOf(error)}).`, `Check who owns ${place}.`)];
  }
  return [ok("store", `${within(workspace, workspace.storeDir)} can be read and written`)];
}

export async function checkSteps(workspace: Workspace): Promise<Finding[]> {
  const { inRefs, unlisted, unknown, unheld, uncopied, broken } = await compareIndex(workspace);
  const findings: Finding[] = [];
  if (unlisted.length > 0) {
    const message = `${plural(unlisted.length, "step")} ${unlisted.length === 1 ? "is" : "are"} stored, but missing from the list.`;
    findings.push(problem("steps", message, "`backtrail doctor --fix` makes the list again.", true));
  }
  if (unheld.length > 0) {
    const message = `${plural(unheld.length, "step")} ${unheld.length === 1 ? "is" : "are"} listed, but not stored: ${some(unheld)}.`;
    findings.push(problem("steps", message, "`backtrail doctor --fix` takes them off the list.", true));
  }
  if (unknown.length > 0) {
    const message = `The files of ${plural(unknown.length, "step")} are stored, but nothing says what they are: ${some(unknown)}.`;
    findings.push(problem("steps", message, "Was something deleted below .git/backtrail? Restore it from a backup."));
  }
  if (uncopied.length > 0) {
    const message = `The second copy of the records of ${plural(uncopied.length, "step")} is missing.`;
    findings.push(problem("steps", message, "`backtrail doctor --fix` writes it again.", true));
  }
  for (const ref of broken) findings.push(problem("steps", `${ref} cannot be read.`, "`git fsck` may say more."));
  return findings.length > 0 ? findings : [ok("steps", `${plural(inRefs, "step")}, each of them listed`)];
}

export async function checkObjects(workspace: Workspace): Promise<Finding[]> {
  const findings: Finding[] = [];
  const missing = await missingObjects(workspace);
  if (missing !== undefined) {
    const hint = "Was something deleted below .git? `git fsck` may say more.";
    findings.push(problem("objects", `Some of what the steps need is missing: ${missing}`, hint));
  }
  const broken = await brokenConversations(workspace);
  if (broken.length > 0) {
    const message = `The conversations of ${plural(broken.length, "session")} are incomplete: ${some(broken)}.`;
    const hint = "Was something deleted below .git/backtrail/conversations? The files of their steps are whole.";
    findings.push(problem("objects", message, hint));
  }
  return findings.length > 0 ? findings : [ok("objects", "everything that the steps need is there")];
}

export async function checkSize(workspace: Workspace): Promise<Finding[]> {
  const { retention } = loadConfig(workspace);
  const all = await sizeOfSteps(workspace);
  const counted = await countedSize(workspace, neededByRestores(workspace));
  const beside = all > counted ? `, and ${showSize(all - counted)} that can be redone` : "";
  const said = `${showSize(counted)} of the ${showSize(retention.max_size)} that steps may take${beside}`;
  if (counted <= retention.max_size) return [ok("size", said)];
  const hint = "`backtrail clean` lets go of the oldest; `retention.max_size` is the limit.";
  return [warning("size", `Steps take more room than they may: ${said}.`, hint)];
}

/** Ages, retention and sort order depend on the clock. */
export function checkClock(workspace: Workspace): Finding[] {
  const limit = new Date(now().getTime() + FUTURE_MS).toISOString();
  const future = [...stepsNewestFirst(workspace)].filter(({ time }) => time > limit);
  const [last] = future
    .map(({ time }) => time)
    .sort()
    .slice(-1);
  if (last === undefined) return [ok("clock", "no step is from the future")];
  const message = `${plural(future.length, "step")} ${future.length === 1 ? "is" : "are"} from the future, up to ${last}: the clock was wrong then, or is now.`;
  return [warning("clock", message, "They can be used like any other, but are deleted so much later.")];
}
