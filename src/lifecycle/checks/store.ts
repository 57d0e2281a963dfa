/** The store itself: its record, its permissions, its steps and what they are made of, its size, its clock. */
import { accessSync, chmodSync, constants, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { now } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";
import { dataDirectory } from "../../base/paths.ts";
import { plural } from "../../base/text.ts";
import { loadConfig } from "../../config/load.ts";
import { showSize } from "../../config/values.ts";
import { readStore, type Workspace } from "../../git/workspace.ts";
import { stepsNewestFirst } from "../../steps/index-file.ts";
import { sizeOfSteps } from "../../steps/retention.ts";
import { FIX, type Finding, ok, problem, some, warning, within } from "../finding.ts";
import { compareIndex, missingObjects } from "../store-check.ts";

const FUTURE_MS = 5 * 60 * 1000;
/** Its scripts are run by git, as whoever commits. */
const PUBLIC: readonly string[] = ["hooks", "replaced-hooks"];

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

/** What holds conversations or secrets is nobody else's to read. */
export function checkModes(workspace: Workspace): Finding[] {
  const open = openToOthers(workspace);
  if (open.length === 0) return [ok("modes", "nobody else can read what is stored")];
  const names = some(open.map((path) => within(workspace, path)));
  return [problem("modes", `Others on this machine may read ${names}.`, FIX, true)];
}

/** For the user alone, as they were made. */
export function closeToOthers(workspace: Workspace): string[] {
  const open = openToOthers(workspace);
  for (const path of open) chmodSync(path, lstatSync(path).isDirectory() ? 0o700 : 0o600);
  return open.length > 0
    ? [`Made ${plural(open.length, "file or folder", "files and folders")} yours alone again.`]
    : [];
}

/** A closed directory closes everything below it, whatever the modes there are. */
function openToOthers({ storeDir }: Workspace): string[] {
  if (process.platform === "win32") return [];
  const open: string[] = [];
  const look = (path: string) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat || stat.isSymbolicLink() || (stat.mode & 0o077) === 0) return;
    open.push(path);
    if (!stat.isDirectory()) return;
    for (const name of readdirSync(path)) if (!PUBLIC.includes(name)) look(join(path, name));
  };
  for (const root of [storeDir, join(dataDirectory(), "redaction")]) look(root);
  return open;
}

export async function checkSteps(workspace: Workspace): Promise<Finding[]> {
  const { inRefs, unlisted, unheld, broken } = await compareIndex(workspace);
  const findings: Finding[] = [];
  if (unlisted.length > 0) {
    const message = `${plural(unlisted.length, "step")} ${unlisted.length === 1 ? "is" : "are"} stored, but missing from the list.`;
    findings.push(problem("steps", message, "`backtrail doctor --fix` makes the list again.", true));
  }
  if (unheld.length > 0) {
    const message = `${plural(unheld.length, "step")} ${unheld.length === 1 ? "is" : "are"} listed, but not stored: ${some(unheld)}.`;
    findings.push(problem("steps", message, "`backtrail doctor --fix` takes them off the list.", true));
  }
  for (const ref of broken) findings.push(problem("steps", `${ref} cannot be read.`, "`git fsck` may say more."));
  return findings.length > 0 ? findings : [ok("steps", `${plural(inRefs, "step")}, each of them listed`)];
}

export async function checkObjects(workspace: Workspace): Promise<Finding[]> {
  const missing = await missingObjects(workspace);
  if (missing === undefined) return [ok("objects", "everything that the steps need is there")];
  const hint = "Was something deleted below .git? `git fsck` may say more.";
  return [problem("objects", `Some of what the steps need is missing: ${missing}`, hint)];
}

export async function checkSize(workspace: Workspace): Promise<Finding[]> {
  const { retention } = loadConfig(workspace.root);
  const size = await sizeOfSteps(workspace);
  const said = `${showSize(size)} of the ${showSize(retention.max_size)} that steps may take`;
  if (size <= retention.max_size) return [ok("size", said)];
  const hint = "`backtrail clean` lets go of the oldest; `retention.max_size` is the limit.";
  return [warning("size", `Steps take more room than they may: ${said}.`, hint)];
}

/** Ages, retention and what is newest go by the time. */
export function checkClock(workspace: Workspace): Finding[] {
  const limit = new Date(now().getTime() + FUTURE_MS).toISOString();
  const future = [...stepsNewestFirst(workspace)].filter(({ time }) => time > limit);
  const [last] = future
    .map(({ time }) => time)
    .sort()
    .slice(-1);
  if (last === undefined) return [ok("clock", "no step is from the future")];
  const message = `${plural(future.length, "step")} ${future.length === 1 ? "is" : "are"} from the future, up to ${last}: the clock was wrong then, or is now.`;
  return [warning("clock", message, "They can be used like any other, but are let go of so much later.")];
}
