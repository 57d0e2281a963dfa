/**
 * What must be true of a store, checked one by one, and put right where that can be done without losing anything.
 * A problem is a broken invariant; a warning is worth knowing and breaks nothing.
 */
import { accessSync, constants } from "node:fs";
import { join, relative } from "node:path";
import { inspect, install } from "../agents/install.ts";
import type { Scope } from "../agents/profile.ts";
import { getAgent } from "../agents/registry.ts";
import { codeOf, messageOf } from "../base/errors.ts";
import { isInside } from "../base/paths.ts";
import { plural, shownPath } from "../base/text.ts";
import { loadSettings } from "../config/load.ts";
import { tierProblems } from "../config/schema.ts";
import { tryGit } from "../git/run.ts";
import { isTracked } from "../git/tracked.ts";
import { isEnabled, readStore, type StoreRecord, type Workspace } from "../git/workspace.ts";
import { abandonedEntries } from "../steps/save.ts";
import { deadTurns } from "./dead-turns.ts";
import { failuresOf } from "./failures.ts";
import { compareIndex, missingObjects, rebuildIndex } from "./store-check.ts";
import { readRules, TIER_NAMES, tierRules } from "./tiers.ts";

export type CheckName =
  | "git"
  | "store"
  | "steps"
  | "objects"
  | "saves"
  | "restores"
  | "turns"
  | "hooks"
  | "settings"
  | "log";

export interface Finding {
  check: CheckName;
  level: "ok" | "warning" | "problem";
  message: string;
  hint: string | null;
  /** Whether `repair` puts it right. */
  fixable: boolean;
}

export interface DoctorOptions {
  /** The path by which hooks should call us. */
  executable: string;
}

const LEAST_GIT = [2, 38] as const;
const SHOWN = 5;

/** Changes nothing. `workspace` is undefined outside of any. */
export async function diagnose(workspace: Workspace | undefined, options: DoctorOptions): Promise<Finding[]> {
  const findings = await checked("git", checkGit);
  if (!workspace || !isEnabled(workspace)) {
    return [...findings, warning("store", "Backtrail is not enabled here.", "`backtrail enable` turns it on.")];
  }
  const record = await checked("store", async () => checkStore(workspace));
  findings.push(...record);
  findings.push(...(await checked("steps", () => checkSteps(workspace))));
  findings.push(...(await checked("objects", () => checkObjects(workspace))));
  findings.push(...(await checked("saves", async () => checkSaves(workspace))));
  findings.push(...(await checked("turns", async () => checkTurns(workspace))));
  findings.push(...(await checked("hooks", () => checkHooks(workspace, options))));
  findings.push(...(await checked("settings", async () => checkSettings(workspace))));
  findings.push(...(await checked("log", async () => checkLog(workspace))));
  return findings;
}

/** The list of steps and the hooks; unfinished work is `recover`'s. Sentences about what was put right. */
export async function repair(
  workspace: Workspace,
  findings: readonly Finding[],
  options: DoctorOptions,
): Promise<string[]> {
  const said: string[] = [];
  const wanted = new Set(findings.filter(({ fixable }) => fixable).map(({ check }) => check));
  if (wanted.has("steps")) {
    const added = await rebuildIndex(workspace);
    said.push(`Made the list of steps again: ${plural(added, "step")}.`);
  }
  if (wanted.has("hooks")) said.push(...(await reinstall(workspace, options)));
  return said;
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
  return [
    problem(
      "git",
      `git ${found?.[0] ?? "of unknown version"} is too old.`,
      `Install git ${LEAST_GIT.join(".")} or newer.`,
    ),
  ];
}

function checkStore(workspace: Workspace): Finding[] {
  const record = readStore(workspace);
  if (record?.v !== 1 || typeof record.agents !== "object") {
    return [problem("store", "The store was written by another version of Backtrail.", "Use the newer Backtrail.")];
  }
  try {
    accessSync(workspace.storeDir, constants.W_OK);
    accessSync(join(workspace.commonDir, "objects"), constants.W_OK);
  } catch (error) {
    return [
      problem(
        "store",
        `The store cannot be written (${codeOf(error)}).`,
        `Check who owns ${within(workspace, workspace.storeDir)}.`,
      ),
    ];
  }
  return [ok("store", `${within(workspace, workspace.storeDir)} can be read and written`)];
}

async function checkSteps(workspace: Workspace): Promise<Finding[]> {
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

async function checkObjects(workspace: Workspace): Promise<Finding[]> {
  const missing = await missingObjects(workspace);
  if (missing === undefined) return [ok("objects", "everything that the steps need is there")];
  return [
    problem(
      "objects",
      `Some of what the steps need is missing: ${missing}`,
      "Was something deleted below .git? `git fsck` may say more.",
    ),
  ];
}

function checkSaves(workspace: Workspace): Finding[] {
  const left = abandonedEntries(workspace).length;
  if (left === 0) return [ok("saves", "none is unfinished")];
  return [
    problem(
      "saves",
      `${plural(left, "save")} of a killed process ${left === 1 ? "is" : "are"} unfinished.`,
      "The next command finishes it, or `backtrail doctor --fix`.",
      true,
    ),
  ];
}

function checkTurns(workspace: Workspace): Finding[] {
  const dead = deadTurns(workspace, null).length;
  if (dead === 0) return [ok("turns", "none was left open")];
  const message = `${plural(dead, "turn")} never ended: the agent is gone.`;
  return [warning("turns", message, "The next command closes it, or `backtrail doctor --fix`.", true)];
}

async function checkHooks(workspace: Workspace, { executable }: DoctorOptions): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [id, scope] of connected(readStore(workspace))) {
    const agent = await getAgent(id);
    if (!agent) {
      findings.push(
        problem("hooks", `The profile of ${id} is gone.`, `Bring it back, or run \`backtrail disable --agent ${id}\`.`),
      );
      continue;
    }
    if (!agent.profile.hooks) {
      findings.push(ok("hooks", `${id}: has none, and is recorded while \`backtrail watch\` runs`));
      continue;
    }
    const { state, file, problem: why } = inspect(agent, scope, { workspace, executable });
    const hint = "`backtrail doctor --fix` puts them right.";
    if (why)
      findings.push(problem("hooks", `${within(workspace, file)} cannot be used: ${why}`, "Put that file right."));
    else if (state === "installed") findings.push(ok("hooks", `${id}: in ${within(workspace, file)}`));
    else if (state === "outdated")
      findings.push(
        problem("hooks", `The hooks of ${id} in ${within(workspace, file)} call another Backtrail.`, hint, true),
      );
    else findings.push(problem("hooks", `The hooks of ${id} are gone from ${within(workspace, file)}.`, hint, true));
  }
  if (findings.length === 0)
    return [warning("hooks", "No agent is connected.", "`backtrail enable` connects those it finds.")];
  return findings;
}

function checkSettings(workspace: Workspace): Finding[] {
  const { config, problems } = loadSettings(workspace.root, { isTracked: (file) => isTracked(workspace, file) });
  const findings = problems.map(({ from, key, message }) =>
    warning(
      "settings",
      `${within(workspace, from)}: ${key ? `${shownPath(key)}: ` : ""}${message}`,
      "`backtrail config` shows what holds.",
    ),
  );
  for (const [name, tier] of Object.entries(config.tiers)) {
    for (const wrong of tierProblems(tier)) findings.push(warning("settings", `tiers.${name}: ${wrong}`, null));
  }
  if (!TIER_NAMES.includes(config.tier) && readRules(config.tiers[config.tier]) === undefined) {
    const hint = `Tiers: ${TIER_NAMES.join(", ")}, or one of your own under \`tiers\`.`;
    findings.push(warning("settings", `There is no tier "${shownPath(config.tier)}"; balanced is used.`, hint));
  }
  if (!config.enabled)
    findings.push(
      warning(
        "settings",
        "The setting `enabled` is false: nothing is recorded.",
        "`backtrail config set enabled true`",
      ),
    );
  return findings.length > 0
    ? findings
    : [ok("settings", `tier ${config.tier} (${plural(tierRules(config.tier, config.tiers).length, "rule")})`)];
}

function checkLog(workspace: Workspace): Finding[] {
  const failures = failuresOf(workspace);
  if (failures.length === 0) return [ok("log", "no failures in the last seven days")];
  return failures.slice(0, SHOWN).map(({ where, message, count, last }) => {
    const times = count === 1 ? "once" : `${count} times`;
    return warning("log", `${where}: ${message} (${times}, last ${last})`, null);
  });
}

async function reinstall(workspace: Workspace, { executable }: DoctorOptions): Promise<string[]> {
  const said: string[] = [];
  for (const [id, scope] of connected(readStore(workspace))) {
    const agent = await getAgent(id);
    if (!agent?.profile.hooks || inspect(agent, scope, { workspace, executable }).state === "installed") continue;
    const done = await install(agent, scope, { workspace, executable });
    said.push(`Put the hooks of ${id} into ${within(workspace, done.by ?? done.files[0]?.file ?? "")}.`, ...done.notes);
  }
  return said;
}

function connected(record: StoreRecord | undefined): [string, Scope][] {
  return Object.entries(record?.agents ?? {}).flatMap(([id, { scope }]): [string, Scope][] =>
    scope === "local" || scope === "project" || scope === "user" ? [[id, scope]] : [],
  );
}

/** From the work tree's root where it lies in it. */
function within({ root }: Workspace, file: string): string {
  return shownPath(isInside(root, file) ? relative(root, file) : file);
}

function some(ids: readonly string[]): string {
  return ids.length > SHOWN ? `${ids.slice(0, SHOWN).join(", ")} …` : ids.join(", ");
}

function ok(check: CheckName, message: string): Finding {
  return { check, level: "ok", message, hint: null, fixable: false };
}

function warning(check: CheckName, message: string, hint: string | null, fixable = false): Finding {
  return { check, level: "warning", message, hint, fixable };
}

function problem(check: CheckName, message: string, hint: string | null, fixable = false): Finding {
  return { check, level: "problem", message, hint, fixable };
}
