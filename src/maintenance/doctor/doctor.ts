/**
 * Runs the checks of a store's invariants, which are in `checks/`, and repairs what it can without losing data.
 */
import { messageOf } from "../../base/errors.ts";
import { writeCheckpoints } from "../../commits/write-checkpoints.ts";
import { loadConfig } from "../../config/load.ts";
import { tryGit } from "../../git/run.ts";
import { isEnabled, type Workspace } from "../../git/workspace.ts";
import { userScopeCoverage } from "../../recording/user-scope/coverage.ts";
import { migrateStore } from "../migration.ts";
import { checkEntire } from "./checks/entire.ts";
import { checkGitHooks, checkHooks, checkVersions, reinstall, reinstallGitHooks } from "./checks/hooks.ts";
import { lostCheckpoints, queueAgain } from "./checks/lost-checkpoints.ts";
import { checkServers, reinstallServers } from "./checks/mcp-server.ts";
import { checkModes, closeToOthers } from "./checks/privacy.ts";
import { checkLog, checkSettings } from "./checks/settings.ts";
import { checkClock, checkObjects, checkSize, checkSteps, checkStore } from "./checks/store.ts";
import { checkSync } from "./checks/sync.ts";
import { checkLocks, checkQueue, checkSaves, checkTurns } from "./checks/unfinished.ts";
import { checkUserScope } from "./checks/user-scope.ts";
import type { DoctorRepair } from "./facts.ts";
import { type CheckName, type DoctorOptions, type Finding, ok, problem, warning } from "./finding.ts";
import { rebuildIndex } from "./store-check.ts";

type Check = (workspace: Workspace, options: DoctorOptions) => Finding[] | Promise<Finding[]>;

const MIN_GIT_VERSION = [2, 38] as const;

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
  ["mcp", checkServers],
  ["entire", checkEntire],
  ["settings", checkSettings],
  ["log", checkLog],
];

const THOROUGH: readonly [CheckName, Check][] = [
  ["size", checkSize],
  ["versions", checkVersions],
];

/** Changes nothing. `workspace` is undefined outside of a repository or enabled folder. */
export async function diagnose(workspace: Workspace | undefined, options: DoctorOptions): Promise<Finding[]> {
  const findings = await checked("git", checkGit);
  findings.push(...(await checked("scope", async () => checkUserScope(workspace))));
  if (!workspace || !isEnabled(workspace)) {
    if (workspace && userScopeCoverage(workspace, loadConfig(workspace)).kind === "recorded") {
      findings.push(ok("store", { kind: "store-made-later" }));
      return [...findings, ...(await checked("hooks", async () => checkHooks(workspace, options)))];
    }
    return [...findings, warning("store", { kind: "store-absent" })];
  }
  for (const [name, check] of options.thorough ? [...CHECKS, ...THOROUGH] : CHECKS) {
    findings.push(...(await checked(name, async () => check(workspace, options))));
  }
  return findings;
}

/** Repairs fixable findings; `recover` handles unfinished work. Returns what was done. */
export async function repair(
  workspace: Workspace,
  findings: readonly Finding[],
  options: DoctorOptions,
): Promise<DoctorRepair[]> {
  const done: DoctorRepair[] = [];
  const wanted = new Set(findings.filter(({ fixable }) => fixable).map(({ check }) => check));
  if (wanted.has("modes")) {
    await migrateStore(workspace);
    done.push(...closeToOthers(workspace, options));
  }
  if (wanted.has("steps")) done.push({ kind: "steps-relisted", steps: await rebuildIndex(workspace) });
  if (wanted.has("queue")) done.push(await writeWaitingCheckpoints(workspace));
  if (wanted.has("hooks")) done.push(...(await reinstall(workspace, options)));
  if (wanted.has("mcp")) done.push(...(await reinstallServers(workspace, options)));
  if (wanted.has("git hooks")) done.push(...(await reinstallGitHooks(workspace, options)));
  return done;
}

async function writeWaitingCheckpoints(workspace: Workspace): Promise<DoctorRepair> {
  const checkpoints = queueAgain(workspace, await lostCheckpoints(workspace));
  await writeCheckpoints(workspace);
  return checkpoints > 0 ? { kind: "lost-checkpoints-written", checkpoints } : { kind: "waiting-checkpoints-written" };
}

/** Reports a failing check as a problem, so that the other checks still run. */
async function checked(check: CheckName, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    return [problem(check, { kind: "check-failed", reason: messageOf(error) })];
  }
}

async function checkGit(): Promise<Finding[]> {
  const { stdout } = await tryGit(["--version"], { cwd: "/" });
  const found = /(\d{1,9})\.(\d{1,9})[.\d]*/.exec(stdout.toString("utf8", 0, 200));
  const [major, minor] = [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
  const isEnough = major > MIN_GIT_VERSION[0] || (major === MIN_GIT_VERSION[0] && minor >= MIN_GIT_VERSION[1]);
  if (isEnough) return [ok("git", { kind: "git-version", version: found?.[0] ?? "" })];
  return [problem("git", { kind: "git-too-old", version: found?.[0] ?? null, required: MIN_GIT_VERSION.join(".") })];
}
