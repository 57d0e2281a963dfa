/** Asks git for which tracked files a checkout would write different bytes. */
import { readFileSync } from "node:fs";
import { decodePath, onDisk } from "../../base/fs/path-bytes.ts";
import type { ConversionConfig } from "../conversion/config-cache.ts";
import { type ConversionRules, nulSeparated, pathsAtNul, storeConverted } from "../conversion/conversion.ts";
import { gitIn } from "../git.ts";
import { statOf } from "../index/stat-cache.ts";
import type { Workspace } from "../workspace.ts";
import { compareLineEnds, isSteady, parseLineEnds } from "./line-ends.ts";

export interface Question {
  workspace: Workspace;
  /** The private index. */
  index: string;
  rules: ConversionRules;
  facts: ConversionConfig;
  /** Whether a filter is known to hang; then no filter runs. */
  isUnfiltered: boolean;
  timeoutMs: number;
}

/** Reading larger files takes git too long, so they count as exact. */
const MAX_CHECKED_BYTES = 8n << 20n;
const MAX_NAMED_PATHS = 400;
const MAX_BATCH_BYTES = 64 << 20;
/** LFS stores a hash of the content, so it always reproduces the content. */
const EXACT_FILTERS = new Set(["lfs"]);

export interface Verdict {
  inexact: boolean;
  /**
   * False if the bytes can change while `git status` reports nothing. It reports every file whose size differs from the
   * index. With line-ending conversion alone, the same size and the same stored content mean the same bytes, unless line
   * endings are mixed.
   */
  steady: boolean;
}

/** Undecided paths are missing. */
export async function classify(question: Question, paths: readonly string[]): Promise<Map<string, Verdict>> {
  const opaque = await opaquePaths(question, paths);
  const plain = paths.filter((path) => !opaque.has(path));
  const { verdicts, unknown } = await byLineEnds(question, plain);
  for (const [path, inexact] of await byWriting(question, [...opaque, ...unknown]))
    verdicts.set(path, { inexact, steady: false });
  return verdicts;
}

/** Files that git filters through a program, or converts in another way that only git can undo. */
async function opaquePaths(question: Question, paths: readonly string[]): Promise<Set<string>> {
  const { workspace, index, rules, facts, timeoutMs } = question;
  const asked = paths.filter((path) => rules.mayFilter(path));
  if (asked.length === 0) return new Set();
  const attributes = ["filter", "ident", "working-tree-encoding"];
  const output = await gitIn(workspace).run(["check-attr", "-z", "--stdin", ...attributes], {
    env: { GIT_INDEX_FILE: index },
    input: nulSeparated(asked),
    timeoutMs,
  });
  const words = pathsAtNul(output);
  const attributeOf = (path: number, attribute: number) => words[3 * (attributes.length * path + attribute) + 2] ?? "";
  return new Set(
    asked.filter((_, i) => {
      const [filter, ident, encoding] = attributes.map((_, attribute) => attributeOf(i, attribute));
      const isFiltered = facts.filterNames.includes(filter ?? "") && !EXACT_FILTERS.has(filter ?? "");
      return isFiltered || ident === "set" || !/^(?:unspecified|unset|set)?$/.test(encoding ?? "");
    }),
  );
}

async function byLineEnds(
  question: Question,
  paths: readonly string[],
): Promise<{ verdicts: Map<string, Verdict>; unknown: string[] }> {
  const { workspace, index, facts, timeoutMs } = question;
  const verdicts = new Map<string, Verdict>();
  const unknown: string[] = [];
  const small = new Set<string>();
  for (const path of paths) {
    if (sizeOf(workspace, path) < MAX_CHECKED_BYTES) small.add(path);
    else verdicts.set(path, { inexact: false, steady: true });
  }
  if (small.size === 0) return { verdicts, unknown };
  const env = { GIT_INDEX_FILE: index };
  for (const named of pathspecs([...small], [...verdicts.keys()])) {
    const output = await gitIn(workspace).run(["ls-files", "--eol", "-z", "--", ...named], { env, timeoutMs });
    for (let start = 0; start < output.length; ) {
      const end = output.indexOf(0, start);
      const tab = output.indexOf(9, start);
      const path = decodePath(output.subarray(tab + 1, end));
      const ends = small.has(path) ? parseLineEnds(output.toString("latin1", start, tab)) : undefined;
      const found = ends && compareLineEnds(ends, facts);
      if (found === "unknown") unknown.push(path);
      else if (ends && found) verdicts.set(path, { inexact: found === "inexact", steady: isSteady(ends) });
      start = end + 1;
    }
  }
  return { verdicts, unknown };
}

/**
 * Names few paths individually. For many paths, or names that cannot be arguments, lets git list everything else too.
 */
function pathspecs(wanted: readonly string[], unwanted: readonly string[]): string[][] {
  const isNameable = (path: string) => !/[\udc80-\udcff]/.test(path);
  if (wanted.length <= MAX_NAMED_PATHS && wanted.every(isNameable))
    return [wanted.map((path) => `:(top,literal)${path}`)];
  const excluded = unwanted.filter(isNameable).slice(0, MAX_NAMED_PATHS);
  return [[":(top)", ...excluded.map((path) => `:(top,exclude,literal)${path}`)]];
}

/** Decides by letting git store the files and write them back. */
async function byWriting(question: Question, paths: readonly string[]): Promise<Map<string, boolean>> {
  const { workspace, index, ...how } = question;
  const verdicts = new Map<string, boolean>();
  for (const batch of contentBatches(workspace, paths, verdicts)) {
    const { stored } = await storeConverted(workspace, index, batch, how);
    for (const [path, { lossy }] of stored) verdicts.set(path, lossy);
  }
  return verdicts;
}

function* contentBatches(
  workspace: Workspace,
  paths: readonly string[],
  verdicts: Map<string, boolean>,
): Generator<Map<string, Buffer>> {
  let batch = new Map<string, Buffer>();
  let bytes = 0;
  for (const path of paths) {
    if (sizeOf(workspace, path) >= MAX_CHECKED_BYTES) {
      verdicts.set(path, false);
      continue;
    }
    const content = contentOf(workspace, path);
    if (!content) continue;
    if (bytes + content.length > MAX_BATCH_BYTES && batch.size > 0) {
      yield batch;
      [batch, bytes] = [new Map(), 0];
    }
    batch.set(path, content);
    bytes += content.length;
  }
  if (batch.size > 0) yield batch;
}

function sizeOf({ root }: Workspace, path: string): bigint {
  try {
    return statOf(onDisk(root, path))?.size ?? 0n;
  } catch {
    return 0n;
  }
}

function contentOf({ root }: Workspace, path: string): Buffer | undefined {
  try {
    return readFileSync(onDisk(root, path));
  } catch {
    return undefined;
  }
}
