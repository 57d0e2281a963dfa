/**
 * Creates the diagnostic bundle, which helps others debug a problem and contains nothing private: no prompts, answers,
 * code, or names of the user's files. Redacts free text (log, findings) and shortens the user's directories.
 */

import { lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { STORE_FOLDERS } from "../../agents/registry/packaged.ts";
import { getAgent } from "../../agents/registry/registry.ts";
import { installedVersion } from "../../agents/registry/version.ts";
import { now } from "../../base/clock.ts";
import { sizeOnDisk } from "../../base/fs/tree-size.ts";
import { homeDirectory, stateDirectory } from "../../base/paths.ts";
import { printable, shorten } from "../../base/text.ts";
import { version } from "../../base/version.ts";
import { waitingSince } from "../../checkpoints/write/queue.ts";
import { loadSettings } from "../../config/load.ts";
import { isEnabled, type Workspace } from "../../git/workspace.ts";
import { listSessions } from "../../recording/session/store.ts";
import { connectedAgents } from "../../recording/user-scope/record.ts";
import { stepsIn } from "../../steps/log.ts";
import { PlaceholderTable } from "../../transcripts/redact/placeholders.ts";
import { createRedactor } from "../../transcripts/redact/redactor.ts";
import { diagnose } from "./doctor.ts";
import { type LoggedFailure, loggedIn } from "./failures.ts";
import type { Finding } from "./finding.ts";

const LOG_DAYS = 7;
const MAX_LOG_ENTRIES = 300;
const MAX_FILES = 2_000;
const MAX_MESSAGE = 500;
/** Reported by size only: their content is named after the user's files, or too numerous to list. */
const NOT_LISTED: ReadonlySet<string> = new Set([
  "kept",
  "restore",
  ...STORE_FOLDERS,
  "conversations",
  "imported",
  "private.git",
]);

/** `workspace` is undefined outside of a repository or enabled folder. `textOf` has the words of a finding. */
export async function bundle(
  workspace: Workspace | undefined,
  executable: string,
  textOf: (finding: Finding) => string,
): Promise<Record<string, unknown>> {
  const clean = await cleaner(workspace);
  const enabled = workspace !== undefined && isEnabled(workspace);
  const findings = await diagnose(workspace, { executable, thorough: true });
  return {
    v: 1,
    time: now().toISOString(),
    backtrail: version,
    system: { platform: process.platform, architecture: process.arch, bun: process.versions.bun },
    findings: findings.map((finding) => {
      const { check, level, fact } = finding;
      return { check, level, kind: fact.kind, message: clean(textOf(finding)) };
    }),
    log: logEntries(enabled ? workspace : undefined, clean),
    ...(enabled ? { store: await storeOf(workspace) } : {}),
  };
}

async function storeOf(workspace: Workspace): Promise<Record<string, unknown>> {
  const { checkpoints, since, unreadable } = waitingSince(workspace);
  const kinds: Record<string, number> = {};
  for (const { kind } of stepsIn(workspace).newestFirst()) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return {
    kind: workspace.kind,
    hash: workspace.hash,
    refs: workspace.refStorage,
    agents: await agentsOf(workspace),
    settings: settingsOf(workspace),
    steps: kinds,
    sessions: listSessions(workspace).map(
      ({ agent, phase, turn, steps, startedAt, updatedAt, openTurn, transcript }) => ({
        agent,
        phase,
        turns: turn,
        steps,
        startedAt,
        updatedAt,
        inTurn: openTurn !== null,
        generation: transcript?.generation ?? null,
        transcriptBytes: transcript?.stored ?? null,
      }),
    ),
    queue: { waiting: checkpoints.length, since, unreadable: unreadable.length },
    files: filesOf(workspace),
  };
}

async function agentsOf(workspace: Workspace): Promise<Record<string, unknown>[]> {
  const agents: Record<string, unknown>[] = [];
  for (const [id, { scope }] of Object.entries(connectedAgents(workspace))) {
    const profile = (await getAgent(id))?.profile;
    agents.push({
      id,
      scope,
      version: (profile && installedVersion(profile)) ?? null,
      tested: profile?.tested_versions,
    });
  }
  return agents;
}

/** The changed settings and their layers; includes only values that are numbers or booleans. */
function settingsOf(workspace: Workspace): Record<string, unknown>[] {
  const { settings } = loadSettings(workspace);
  return [...settings.values()].map(({ key, value, layer }) => ({
    key: /^(?:tiers|run)\./.test(key) ? `${key.split(".")[0]}.…` : key,
    layer,
    ...(typeof value === "number" || typeof value === "boolean" ? { value } : {}),
  }));
}

/**
 * The files of the store, with size and mode. Backtrail chose their names, except for kept files and worktrees: the
 * user or a fork's prompt names worktrees, so the bundle numbers them.
 */
function filesOf({ storeDir }: Workspace): { name: string; bytes: number; mode: string }[] {
  const worktrees = new Map([["main", "main"]]);
  const named = (path: string) =>
    relative(storeDir, path).replace(/^worktrees\/([^/]+)/, (_, name: string) => {
      if (!worktrees.has(name)) worktrees.set(name, String(worktrees.size));
      return `worktrees/${worktrees.get(name)}`;
    });
  const files: { name: string; bytes: number; mode: string }[] = [];
  const look = (directory: string) => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (files.length >= MAX_FILES) return;
      const path = join(directory, entry.name);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (!stat) continue;
      if (entry.isDirectory() && !NOT_LISTED.has(entry.name)) look(path);
      else if (NOT_LISTED.has(entry.name))
        files.push({ name: named(path), bytes: sizeOnDisk(path), mode: modeOf(stat) });
      else files.push({ name: named(path), bytes: stat.size, mode: modeOf(stat) });
    }
  };
  look(storeDir);
  return files;
}

function modeOf({ mode }: { mode: number }): string {
  return (mode & 0o777).toString(8);
}

function logEntries(workspace: Workspace | undefined, clean: (text: string) => string): LoggedFailure[] {
  const directories = [stateDirectory(), ...(workspace ? [workspace.storeDir] : [])];
  return directories
    .flatMap((directory) => loggedIn(directory, LOG_DAYS))
    .sort((a, b) => (a.time < b.time ? 1 : -1))
    .slice(0, MAX_LOG_ENTRIES)
    .map((entry) => ({ ...entry, where: clean(entry.where), message: clean(entry.message) }));
}

/** Replaces secrets and the user's directories, since messages contain paths. */
async function cleaner(workspace: Workspace | undefined): Promise<(text: string) => string> {
  const redactor = await createRedactor();
  const placeholders = new PlaceholderTable();
  const home = homeDirectory();
  const user = process.env["USER"] ?? "";
  return (text) => {
    let result = printable(text);
    if (workspace) result = result.replaceAll(workspace.root, "<project>");
    // Paths in git's own directory show where the problem is; all other names are private.
    result = result.replaceAll(/<project>\/(?!\.git\/)[^\s"':,)]+/g, "<project>/…");
    if (home.length > 1) result = result.replaceAll(home, "~");
    if (user.length > 2) result = result.replaceAll(user, "<user>");
    // Home directories contain the names of other users.
    result = result.replaceAll(/\/(?:home|Users)\/[^/\s"':]+/g, "/<home>");
    return shorten(redactor.redact(result, { placeholders, format: "text" }).bytes.toString("utf8"), MAX_MESSAGE);
  };
}
