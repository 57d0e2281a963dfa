/**
 * Runs `git status` on the private index within a time limit. If git takes too long, reruns it without the user's file
 * monitor, without reading large files, and then without filters. If it fails, reruns it once without filters.
 */
import type { ConversionConfig } from "../conversion/config-cache.ts";
import { areHung, isMonitorHung, rememberHung, rememberMonitorHung, withoutFilters } from "../conversion/filters.ts";
import { gitIn } from "../git.ts";
import type { PrivateIndex } from "../index/private-index.ts";
import { type GitOptions, type GitResult, gitFailure, tryGit } from "../run.ts";
import type { Workspace } from "../workspace.ts";
import { findLargeFiles, hasLargeFiles, type LargeFile, markedLargeFiles } from "./large-files.ts";
import { STATUS_ARGUMENTS } from "./status.ts";

export interface StatusRun {
  output: Buffer;
  /** Tracked files that git skipped. */
  large: LargeFile[];
  /** Whether git ran without filters because one hung. */
  isUnfiltered: boolean;
}

const FAILED_FILTER = /clean filter '([^'\n]+)' failed/;
const MAX_FILTERS = 8;

/** `patienceMs` is the limit for all attempts together. */
export async function runStatus(
  workspace: Workspace,
  index: PrivateIndex,
  facts: ConversionConfig | Promise<ConversionConfig>,
  patienceMs: number,
): Promise<StatusRun> {
  const began = performance.now();
  const left = (share: number) => patienceMs * share - (performance.now() - began);
  // Does not wait, so that git starts at once if nothing must be asked first.
  const known = facts instanceof Promise ? await facts : facts;
  let large: LargeFile[] = [];
  let isUnfiltered = areHung(workspace, known);
  let isUnmonitored = isMonitorHung(workspace, known);
  const start = (filtered = !isUnfiltered) =>
    startStatus(workspace, index, [...known.corrections, ...(filtered ? [] : withoutFilters(known))], !isUnmonitored);
  if (hasLargeFiles(workspace)) large = await markedLargeFiles(workspace, index.path);
  let running = start();

  const skipMonitor = async () => {
    if (isUnmonitored || known.monitor === null) return false;
    rememberMonitorHung(workspace, known);
    isUnmonitored = true;
    return true;
  };
  const skipLargeFiles = async () => {
    const before = large.length;
    large = await findLargeFiles(workspace, index.path);
    return large.length > before;
  };
  const skipFilters = async () => {
    if (isUnfiltered || known.filterNames.length === 0) return false;
    rememberHung(workspace, known);
    isUnfiltered = true;
    return true;
  };
  const remedies = [[skipMonitor, 1 / 4] as const, [skipLargeFiles, 1 / 3] as const, [skipFilters, 1 / 2] as const];
  for (const [remedy, share] of remedies) {
    if (await within(running.result, left(share))) break;
    // If the remedy does not apply, keep waiting for the same git.
    if (!(await remedy().catch(() => false))) continue;
    running.end();
    running = start();
  }
  if (!(await within(running.result, left(1)))) running.end();
  const failed = await running.result;
  // A filter that ends before its time makes git fail. Its files are stored as they are, as git can't convert them.
  if (failed.code !== 0 && !failed.timedOut && !isUnfiltered && known.filterNames.length > 0) {
    running = start(false);
    if (!(await within(running.result, left(1)))) running.end();
  }
  const { code, stdout, stderr, timedOut } = await running.result;
  if (code !== 0) throw gitFailure(["status"], code, timedOut ? "it took too long" : stderr);
  return { output: stdout, large, isUnfiltered };
}

interface Running {
  result: Promise<GitResult>;
  end(): void;
}

/** Whether `work` settles within this time. */
async function within(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, milliseconds));
  });
  const done = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
}

function startStatus(
  workspace: Workspace,
  index: PrivateIndex,
  settings: readonly string[],
  asksMonitor: boolean,
): Running {
  const ending = new AbortController();
  const { args, cwd } = gitIn(workspace);
  const all = [...settings, ...args, ...index.settings];
  const how = { cwd, env: { GIT_INDEX_FILE: index.path }, signal: ending.signal, asksMonitor };
  return { result: gitStatus(all, how), end: () => ending.abort() };
}

/**
 * A `required` filter (as LFS sets it up) that fails, for example because its program is not in the agent's PATH, makes
 * `git status` fail. Retries without `required`, since only the file's own bytes matter here.
 */
async function gitStatus(args: readonly string[], how: GitOptions): Promise<GitResult> {
  const lenient: string[] = [];
  for (;;) {
    const result = await tryGit([...lenient, ...args, ...STATUS_ARGUMENTS], how);
    const filter = result.code === 0 ? undefined : FAILED_FILTER.exec(result.stderr)?.[1];
    if (filter === undefined || lenient.length >= 2 * MAX_FILTERS) return result;
    lenient.push("-c", `filter.${filter}.required=false`);
  }
}
