/**
 * `core.hooksPath`: resolves git's hooks directory, and points git at our own directory when we must not write into the
 * user's. Restores the configuration file byte for byte.
 */
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { writeFileAtomic } from "../../base/fs/files.ts";
import { git, tryGit } from "../../git/run.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type HooksOverride, type HooksRecord, writeRecord } from "./record.ts";

/** As git reports it: absolute, or relative to the work tree's root. */
export async function hooksDirectory(workspace: Workspace): Promise<string> {
  const said = await git(["rev-parse", "--git-path", "hooks"], { cwd: workspace.root });
  return said.toString("utf8").replace(/\n$/, "");
}

/** True if a local setting takes effect: the worktree scope and the command line override it. */
export async function isLocalSettingEffective(workspace: Workspace): Promise<boolean> {
  const found = await tryGit(["config", "--show-scope", "--get", "core.hooksPath"], { cwd: workspace.root });
  return !/^(?:worktree|command)\t/.test(found.stdout.toString("utf8"));
}

export function ownDirectory(workspace: Workspace): string {
  return join(workspace.storeDir, "hooks");
}

/** True for our directory here, or at the repository's former path. */
export function wasOwnDirectory(directory: string): boolean {
  return directory.endsWith("/backtrail/hooks");
}

export async function pointAtOwn(workspace: Workspace, record: HooksRecord, original: string): Promise<void> {
  const config = join(workspace.commonDir, "config");
  const local = await tryGit(["config", "--local", "--get", "core.hooksPath"], { cwd: workspace.root });
  const before = local.code === 0 ? local.stdout.toString("utf8").replace(/\n$/, "") : null;
  const content = readFileSync(config).toString("base64");
  // Write the record first: if we are killed in between, `disable` restores the previous setting.
  record.override = { before, content, became: "", original };
  writeRecord(workspace, record);
  await git(["config", "--local", "core.hooksPath", ownDirectory(workspace)], { cwd: workspace.root });
  record.override.became = hexDigest("sha256", readFileSync(config));
  writeRecord(workspace, record);
}

/** The repository was moved or copied, and its configuration still names our directory at the old path. */
export async function followMove(workspace: Workspace, record: HooksRecord, override: HooksOverride): Promise<void> {
  const config = join(workspace.commonDir, "config");
  const isUnchanged = hexDigest("sha256", readFileSync(config)) === override.became;
  await git(["config", "--local", "core.hooksPath", ownDirectory(workspace)], { cwd: workspace.root });
  override.became = isUnchanged ? hexDigest("sha256", readFileSync(config)) : "";
  writeRecord(workspace, record);
}

export async function pointBack(workspace: Workspace, override: HooksOverride): Promise<void> {
  const config = join(workspace.commonDir, "config");
  const present = readFileSync(config);
  if (hexDigest("sha256", present) === override.became) {
    writeFileAtomic(config, Buffer.from(override.content, "base64"), { mode: lstatSync(config).mode & 0o777 });
    return;
  }
  const options = { cwd: workspace.root };
  const now = await tryGit(["config", "--local", "--get", "core.hooksPath"], options);
  // Someone else has changed the setting since.
  if (!wasOwnDirectory(now.stdout.toString("utf8").trim())) return;
  if (override.before === null) await tryGit(["config", "--local", "--unset", "core.hooksPath"], options);
  else await git(["config", "--local", "core.hooksPath", override.before], options);
}
