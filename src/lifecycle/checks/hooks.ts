/** Whether agents and git still call us, and whether the agents are those that we know. */
import { hooksOff } from "../../agents/hooks-off.ts";
import { inspect, inspectAll, install } from "../../agents/install.ts";
import type { Scope } from "../../agents/profile.ts";
import { getAgent } from "../../agents/registry.ts";
import { installedVersion, standingOf } from "../../agents/version.ts";
import { inspectGitHooks, installGitHooks } from "../../checkpoints/git-hooks.ts";
import { readStore, type StoreRecord, type Workspace } from "../../git/workspace.ts";
import { type DoctorOptions, FIX, type Finding, ok, problem, warning, within } from "../finding.ts";

export async function checkHooks(workspace: Workspace, { executable }: DoctorOptions): Promise<Finding[]> {
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
    const place = within(workspace, file);
    const hint = "`backtrail doctor --fix` puts them right.";
    if (why) findings.push(problem("hooks", `${place} cannot be used: ${why}`, "Put that file right."));
    else if (state === "installed") findings.push(ok("hooks", `${id}: in ${place}`));
    else if (state === "outdated")
      findings.push(problem("hooks", `The hooks of ${id} in ${place} call another Backtrail.`, hint, true));
    else findings.push(problem("hooks", `The hooks of ${id} are gone from ${place}.`, hint, true));
    const files = inspectAll(agent, { workspace, executable }).map((found) => found.file);
    for (const { file: by, setting } of hooksOff(id, files))
      findings.push(
        warning("hooks", `${id} runs no hooks: ${setting} in ${within(workspace, by)}.`, "Nothing of it is recorded."),
      );
  }
  if (findings.length === 0)
    return [warning("hooks", "No agent is connected.", "`backtrail enable` connects those it finds.")];
  return findings;
}

export async function checkGitHooks(workspace: Workspace, { executable }: DoctorOptions): Promise<Finding[]> {
  if (workspace.kind === "private") return [];
  const { state, place, manager, which } = await inspectGitHooks(workspace, executable);
  const beside = manager ? `, beside ${manager}` : "";
  switch (state) {
    case "installed":
      return [ok("git hooks", `in ${within(workspace, place)}${beside}`)];
    case "absent":
      return [warning("git hooks", "Commits are not linked to their conversations.", "`backtrail enable` links them.")];
    case "off":
      return [warning("git hooks", "git runs no hooks here (core.hooksPath is /dev/null).", "Commits are not linked.")];
    case "outdated":
      return [warning("git hooks", `git's hooks in ${within(workspace, place)} call another Backtrail.`, FIX, true)];
    case "shadowed":
      return [
        warning(
          "git hooks",
          `git takes its hooks from ${within(workspace, place)} now (core.hooksPath), where ours are not.`,
          FIX,
          true,
        ),
      ];
    case "missing":
      return [
        warning(
          "git hooks",
          `${manager ?? "Another tool"} has replaced or removed hooks of ours in ${within(workspace, place)}: ${which.join(", ")}.`,
          FIX,
          true,
        ),
      ];
  }
}

/** An agent that has moved on may say other things in its hooks, or in other words. */
export async function checkVersions(workspace: Workspace): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [id] of connected(readStore(workspace))) {
    const profile = (await getAgent(id))?.profile;
    const version = profile ? installedVersion(profile) : undefined;
    if (!profile || version === undefined) continue;
    const tested = profile.tested_versions;
    const standing = standingOf(version, tested);
    if (standing === "tested") findings.push(ok("versions", `${id} ${version}`));
    else if (tested.length === 0) findings.push(ok("versions", `${id} ${version}, which no version was tested of`));
    else {
      const message = `${id} ${version} is ${standing} than what Backtrail was tested with (${tested.join(", ")}).`;
      findings.push(
        warning("versions", message, "Look with `backtrail log` whether its turns are recorded as they were."),
      );
    }
  }
  return findings;
}

/** Sentences about what was put back. */
export async function reinstall(workspace: Workspace, { executable }: DoctorOptions): Promise<string[]> {
  const said: string[] = [];
  for (const [id, scope] of connected(readStore(workspace))) {
    const agent = await getAgent(id);
    if (!agent?.profile.hooks || inspect(agent, scope, { workspace, executable }).state === "installed") continue;
    const done = await install(agent, scope, { workspace, executable });
    said.push(`Put the hooks of ${id} into ${within(workspace, done.by ?? done.files[0]?.file ?? "")}.`, ...done.notes);
  }
  return said;
}

export async function reinstallGitHooks(workspace: Workspace, { executable }: DoctorOptions): Promise<string[]> {
  const { notes } = await installGitHooks(workspace, executable);
  return ["Put git's hooks back in place.", ...notes];
}

function connected(record: StoreRecord | undefined): [string, Scope][] {
  return Object.entries(record?.agents ?? {}).flatMap(([id, { scope }]): [string, Scope][] =>
    scope === "local" || scope === "project" || scope === "user" ? [[id, scope]] : [],
  );
}
