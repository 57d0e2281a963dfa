/**
 * What helps somebody else to find a fault, and nothing that is private: no prompt, no answer, no code, no name of a user's
 * file. Texts that could hold more than they should (the log, findings) are redacted, and the user's directories shortened.
 */
import { lstatSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { getAgent } from "../agents/registry.ts";
import { installedVersion } from "../agents/version.ts";
import { now } from "../base/clock.ts";
import { stateDirectory } from "../base/paths.ts";
import { printable, shorten } from "../base/text.ts";
import { version } from "../base/version.ts";
import { waitingSince } from "../checkpoints/queue.ts";
import { loadSettings } from "../config/load.ts";
import { isTracked } from "../git/tracked.ts";
import { isEnabled, readStore, type Workspace } from "../git/workspace.ts";
import { stepsNewestFirst } from "../steps/index-file.ts";
import { PlaceholderTable } from "../transcripts/redact/placeholders.ts";
import { createRedactor } from "../transcripts/redact/redactor.ts";
import { diagnose } from "./doctor.ts";
import { type LoggedFailure, loggedIn } from "./failures.ts";
import { listSessions } from "./session-state.ts";

const LOG_DAYS = 7;
const MOST_LOG_ENTRIES = 300;
const MOST_FILES = 2_000;
const LONGEST_MESSAGE = 500;

/** As JSON. `workspace` is undefined outside of any. */
export async function bundle(workspace: Workspace | undefined, executable: string): Promise<Record<string, unknown>> {
  const clean = await cleaner(workspace);
  const enabled = workspace !== undefined && isEnabled(workspace);
  const findings = await diagnose(workspace, { executable, thorough: true });
  return {
    v: 1,
    time: now().toISOString(),
    backtrail: version,
    system: { platform: process.platform, architecture: process.arch, bun: Bun.version },
    findings: findings.map(({ check, level, message }) => ({ check, level, message: clean(message) })),
    log: logEntries(enabled ? workspace : undefined, clean),
    ...(enabled ? { store: await storeOf(workspace) } : {}),
  };
}

async function storeOf(workspace: Workspace): Promise<Record<string, unknown>> {
  const { checkpoints, since, unreadable } = waitingSince(workspace);
  const kinds: Record<string, number> = {};
  for (const { kind } of stepsNewestFirst(workspace)) kinds[kind] = (kinds[kind] ?? 0) + 1;
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
  for (const [id, { scope }] of Object.entries(readStore(workspace)?.agents ?? {})) {
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

/** Which settings were changed, and where; values only where they can be nothing but a number or a choice. */
function settingsOf(workspace: Workspace): Record<string, unknown>[] {
  const { settings } = loadSettings(workspace.root, { isTracked: (file) => isTracked(workspace, file) });
  return [...settings.values()].map(({ key, value, layer }) => ({
    key: /^(?:tiers|run)\./.test(key) ? `${key.split(".")[0]}.…` : key,
    layer,
    ...(typeof value === "number" || typeof value === "boolean" ? { value } : {}),
  }));
}

/**
 * What lies in the store, by size and mode. Names there are ours, but for what restores kept and for worktrees: those are
 * called as the user calls them, or after the prompt that a fork began with, and so they are counted.
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
      if (files.length >= MOST_FILES) return;
      const path = join(directory, entry.name);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (!stat) continue;
      if (entry.isDirectory() && !["kept", "restore", "opencode"].includes(entry.name)) look(path);
      else files.push({ name: named(path), bytes: stat.size, mode: (stat.mode & 0o777).toString(8) });
    }
  };
  look(storeDir);
  return files;
}

function logEntries(workspace: Workspace | undefined, clean: (text: string) => string): LoggedFailure[] {
  const directories = [stateDirectory(), ...(workspace ? [workspace.storeDir] : [])];
  return directories
    .flatMap((directory) => loggedIn(directory, LOG_DAYS))
    .sort((a, b) => (a.time < b.time ? 1 : -1))
    .slice(0, MOST_LOG_ENTRIES)
    .map((entry) => ({ ...entry, where: clean(entry.where), message: clean(entry.message) }));
}

/** Secrets are replaced, and so are the user's directories: a message names files by their paths. */
async function cleaner(workspace: Workspace | undefined): Promise<(text: string) => string> {
  const redactor = await createRedactor();
  const placeholders = new PlaceholderTable();
  const home = process.env["HOME"] || homedir();
  const user = process.env["USER"] ?? "";
  return (text) => {
    let result = printable(text);
    if (workspace) result = result.replaceAll(workspace.root, "<project>");
    // What lies in git's own directory says where it went wrong; any other name is the user's.
    result = result.replaceAll(/<project>\/(?!\.git\/)[^\s"':,)]+/g, "<project>/…");
    if (home.length > 1) result = result.replaceAll(home, "~");
    if (user.length > 2) result = result.replaceAll(user, "<user>");
    // Other people's directories say who they are.
    result = result.replaceAll(/\/(?:home|Users)\/[^/\s"':]+/g, "/<home>");
    return shorten(redactor.redact(result, { placeholders, format: "text" }).bytes.toString("utf8"), LONGEST_MESSAGE);
  };
}
