/** Checks the store: its record, its steps and their objects, its size, and the clock. */
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { now } from "../../../base/clock.ts";
import { codeOf } from "../../../base/errors.ts";
import { loadConfig } from "../../../config/load.ts";
import { readStore, type Workspace } from "../../../git/workspace.ts";
import { stepsIn } from "../../../steps/log.ts";
import { countedSize, sizeOfSteps } from "../../../steps/upkeep/retention.ts";
import { neededByRestores } from "../../expiry.ts";
import { type Finding, ok, problem, warning, within } from "../finding.ts";
import { brokenConversations, compareIndex, missingObjects } from "../store-check.ts";

const FUTURE_MS = 5 * 60 * 1000;

export function checkStore(workspace: Workspace): Finding[] {
  const record = readStore(workspace);
  if (!record) return [problem("store", { kind: "store-record-broken" })];
  if (record.v !== 1) return [problem("store", { kind: "store-of-other-version" })];
  const directory = within(workspace, workspace.storeDir);
  try {
    accessSync(workspace.storeDir, constants.W_OK);
    accessSync(join(workspace.commonDir, "objects"), constants.W_OK);
  } catch (error) {
    return [problem("store", { kind: "store-read-only", directory, code: codeOf(error) })];
  }
  return [ok("store", { kind: "store-usable", directory })];
}

export async function checkSteps(workspace: Workspace): Promise<Finding[]> {
  const { inRefs, unlisted, unknown, unheld, uncopied, broken } = await compareIndex(workspace);
  const findings: Finding[] = [];
  if (unlisted.length > 0) findings.push(problem("steps", { kind: "steps-unlisted", steps: unlisted }, true));
  if (unheld.length > 0) findings.push(problem("steps", { kind: "steps-not-stored", steps: unheld }, true));
  if (unknown.length > 0) findings.push(problem("steps", { kind: "steps-unknown", steps: unknown }));
  if (uncopied.length > 0) findings.push(problem("steps", { kind: "steps-without-copy", steps: uncopied }, true));
  for (const ref of broken) findings.push(problem("steps", { kind: "ref-unreadable", ref }));
  return findings.length > 0 ? findings : [ok("steps", { kind: "steps-listed", steps: inRefs })];
}

export async function checkObjects(workspace: Workspace): Promise<Finding[]> {
  const findings: Finding[] = [];
  const missing = await missingObjects(workspace);
  if (missing !== undefined) findings.push(problem("objects", missing));
  const broken = await brokenConversations(workspace);
  if (broken.length > 0) findings.push(problem("objects", { kind: "conversations-incomplete", sessions: broken }));
  return findings.length > 0 ? findings : [ok("objects", { kind: "objects-complete" })];
}

export async function checkSize(workspace: Workspace): Promise<Finding[]> {
  const limit = loadConfig(workspace).retention.max_size;
  const all = await sizeOfSteps(workspace);
  const steps = await countedSize(workspace, neededByRestores(workspace));
  const sizes = { steps, limit, redoable: Math.max(0, all - steps) };
  return steps <= limit
    ? [ok("size", { kind: "size", ...sizes })]
    : [warning("size", { kind: "size-exceeded", ...sizes })];
}

/** Ages, retention and sort order depend on the clock. */
export function checkClock(workspace: Workspace): Finding[] {
  const limit = new Date(now().getTime() + FUTURE_MS).toISOString();
  const times = stepsIn(workspace)
    .list()
    .map(({ time }) => time)
    .filter((time) => time > limit);
  const last = times.sort().at(-1);
  if (last === undefined) return [ok("clock", { kind: "clock-right" })];
  return [warning("clock", { kind: "steps-from-future", steps: times.length, last })];
}
