/**
 * What must be true of a store, checked one by one, and put right where that can be done without losing anything. The checks
 * themselves are in `checks/`.
 */
import { messageOf } from "../base/errors.ts";
import { plural } from "../base/text.ts";
import { tryGit } from "../git/run.ts";
import { isEnabled, type Workspace } from "../git/workspace.ts";
import { checkGitHooks, checkHooks, checkVersions, reinstall, reinstallGitHooks } from "./checks/hooks.ts";
import { lostCheckpoints, queueAgain } from "./checks/lost-checkpoints.ts";
import { checkLog, checkSettings } from "./checks/settings.ts";
import {
  checkClock,
  checkModes,
  checkObjects,
  checkSize,
  checkSteps,
  checkStore,
  closeToOthers,
} from "./checks/store.ts";
import { checkSync } from "./checks/sync.ts";
import { checkLocks, checkQueue, checkSaves, checkTurns } from "./checks/unfinished.ts";
import { writeCheckpoints } from "./condensing.ts";
import { type CheckName, type DoctorOptions, type Finding, ok, problem, warning } from "./finding.ts";
import { rebuildIndex } from "./store-check.ts";

type Check = (workspace: Workspace, options: DoctorOptions) => Finding[] | Promise<Finding[]>;

const LEAST_GIT = [2, 38] as const;

const CHECKS: readonly [CheckName, Check][] = [
  ["store", checkStore],
  ["modes", checkModes],
  ["steps", checkSteps],
  ["objects", checkObjects],
  ["saves", checkSaves],
  ["locks", checkLocks],
  ["turns", checkTurns],
  ["queue", checkQueue],
  ["sync", checkSync],
  ["clock", checkClock],
  ["hooks", checkHooks],
  ["git hooks", checkGitHooks],
  ["settings", checkSettings],
  ["log", checkLog],
];

const THOROUGH: readonly [CheckName, Check][] = [
  ["size", checkSize],
  ["versions", checkVersions],
];

/** Changes nothing. `workspace` is undefined outside of any. */
export async function diagnose(workspace: Workspace | undefined, options: DoctorOptions): Promise<Finding[]> {
  const findings = await checked("git", checkGit);
  if (!workspace || !isEnabled(workspace)) {
    return [...findings, warning("store", "Backtrail is not enabled here.", "`backtrail enable` turns it on.")];
  }
  for (const [name, check] of options.thorough ? [...CHECKS, ...THOROUGH] : CHECKS) {
    findings.push(...(await checked(name, async () => check(workspace, options))));
  }
  return findings;
}

/** What can be put right here; unfinished work is `recover`'s. Sentences about what was put right. */
export async function repair(
  workspace: Workspace,
  findings: readonly Finding[],
  options: DoctorOptions,
): Promise<string[]> {
  const said: string[] = [];
  const wanted = new Set(findings.filter(({ fixable }) => fixable).map(({ check }) => check));
  if (wanted.has("modes")) said.push(...closeToOthers(workspace));
  if (wanted.has("steps")) {
    const listed = await rebuildIndex(workspace);
    said.push(`Made the list of steps again: ${plural(listed, "step")}.`);
  }
  if (wanted.has("queue")) said.push(...(await workOff(workspace)));
  if (wanted.has("hooks")) said.push(...(await reinstall(workspace, options)));
  if (wanted.has("git hooks")) said.push(...(await reinstallGitHooks(workspace, options)));
  return said;
}

async function workOff(workspace: Workspace): Promise<string[]> {
  const again = queueAgain(workspace, await lostCheckpoints(workspace));
  await writeCheckpoints(workspace);
  return again > 0
    ? [`Wrote ${plural(again, "checkpoint")} that had been lost.`]
    : ["Wrote the checkpoints that waited."];
}

/** A check that itself fails is a problem to be told, not the end of the others. */
async function checked(check: CheckName, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    return [problem(check, `This could not be checked: ${messageOf(error)}`, null)];
  }
}

async function checkGit(): Promise<Finding[]> {
  const { stdout } = await tryGit(["--version"], { cwd: "/" });
  const found = /(\d{1,9})\.(\d{1,9})[.\d]*/.exec(stdout.toString("utf8", 0, 200));
  const [major, minor] = [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
  const isEnough = major > LEAST_GIT[0] || (major === LEAST_GIT[0] && minor >= LEAST_GIT[1]);
  if (isEnough) return [ok("git", `git ${found?.[0]}`)];
  const message = `git ${found?.[0] ?? "of unknown version"} is too old.`;
  return [problem("git", message, `Install git ${LEAST_GIT.join(".")} or newer.`)];
}
