/**
 * Decides which files git would store in another form (line endings, LFS, encodings), and stores them the way git does.
 * Most repositories convert nothing, and deciding that starts no process.
 */
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { hexDigest } from "../../base/digest.ts";
import { makeDirectory, removeFile } from "../../base/fs/files.ts";
import { decodePath, encodePath, onDisk, parentOf, splitAtNul } from "../../base/fs/path-bytes.ts";
import { logError } from "../../base/log.ts";
import { homeDirectory } from "../../base/paths.ts";
import { gitIn } from "../git.ts";
import type { TreeEntry } from "../objects/trees.ts";
import { gitFailure, tryGit } from "../run.ts";
import type { Status } from "../snapshot/status.ts";
import type { Workspace } from "../workspace.ts";
import type { ConversionConfig } from "./config-cache.ts";
import { rememberHung, withoutFilters } from "./filters.ts";

/** What attributes can change in a file: 0 nothing, 1 CRLF to LF, 2 also LF to CRLF, 3 anything. */
type ConversionLevel = 0 | 1 | 2 | 3;

const ANYTHING = /filter|ident|working-tree-encoding|\[attr\]/;
const PATHS_PER_CALL = 400;

interface Rules {
  level: ConversionLevel;
  /** Fingerprint of the rules; empty if git converts nothing. */
  fingerprint: string;
}

export class ConversionRules {
  readonly #workspace: Workspace;
  readonly #attributesIn: (directory: string) => string | undefined;
  readonly #facts: ConversionConfig;
  readonly #everywhere: Rules;
  readonly #byDirectory = new Map<string, Rules>();

  /**
   * git reads missing attribute files from the index, which this class does not. If there may be such files, `unseen`
   * identifies them (empty if all are in the work tree) and any conversion is possible. `attributesIn` overrides how to
   * read a directory's attribute file.
   */
  constructor(
    workspace: Workspace,
    facts: ConversionConfig,
    unseen: string,
    attributesIn = (directory: string) => textAt(onDisk(workspace.root, attributesFile(directory))),
  ) {
    this.#workspace = workspace;
    this.#attributesIn = remembering(attributesIn);
    this.#facts = facts;
    const home = homeDirectory();
    const own = facts.attributesFile?.replace(/^~(?=\/)/, home);
    const sources = [
      join(workspace.commonDir, "info", "attributes"),
      own ?? join(process.env["XDG_CONFIG_HOME"] || join(home, ".config"), "git", "attributes"),
      "/etc/gitattributes",
    ];
    const reach: ConversionLevel = unseen ? 3 : facts.autocrlf === "true" ? 2 : facts.autocrlf === "input" ? 1 : 0;
    let rules: Rules = { level: reach, fingerprint: reach > 0 ? hexDigest("sha1", JSON.stringify(facts), unseen) : "" };
    for (const source of sources) rules = this.#with(rules, textAt(source));
    this.#everywhere = rules;
  }

  /** The rules of the same attribute files, none of them unseen, under other settings. */
  under(facts: ConversionConfig): ConversionRules {
    return new ConversionRules(this.#workspace, facts, "", this.#attributesIn);
  }

  /** Whether git might store any content at `path` in another form. */
  reaches(path: string): boolean {
    return this.#rulesIn(parentOf(path)).level > 0;
  }

  /** Whether git might convert the file by more than its line endings. False is certain. */
  mayFilter(path: string): boolean {
    return this.#rulesIn(parentOf(path)).level === 3;
  }

  /** Whether git might store `content` at `path` in another form. False is certain. */
  mayConvert(path: string, content: Buffer): boolean {
    const { level: reach } = this.#rulesIn(parentOf(path));
    if (reach === 0) return false;
    if (reach === 1) return content.includes(0x0d);
    return true;
  }

  /** Whether a checkout writes the file exactly as stored. True is certain. */
  writesUnchanged(path: string): boolean {
    return this.#rulesIn(parentOf(path)).level <= 1;
  }

  /** Fingerprint of the rules at `path`. Results stored under another fingerprint are no longer valid. */
  fingerprintAt(path: string): string {
    return this.#rulesIn(parentOf(path)).fingerprint;
  }

  #rulesIn(directory: string): Rules {
    const known = this.#byDirectory.get(directory);
    if (known !== undefined) return known;
    const above = directory === "." ? this.#everywhere : this.#rulesIn(parentOf(directory));
    const rules = this.#with(above, this.#attributesIn(directory));
    this.#byDirectory.set(directory, rules);
    return rules;
  }

  #with(rules: Rules, text: string | undefined): Rules {
    if (text === undefined) return rules;
    const own = this.#reachOf(text);
    const reach = own > rules.level ? own : rules.level;
    return reach === 0
      ? rules
      : { level: reach, fingerprint: hexDigest("sha1", rules.fingerprint, JSON.stringify(this.#facts), text) };
  }

  #reachOf(text: string): ConversionLevel {
    if (ANYTHING.test(text)) return 3;
    if (!/\b(text|eol|crlf|binary)\b/.test(text)) return 0;
    return this.#facts.writesCrlf || text.includes("eol=crlf") ? 2 : 1;
  }
}

function remembering<V>(look: (key: string) => V): (key: string) => V {
  const known = new Map<string, V>();
  return (key) => {
    if (!known.has(key)) known.set(key, look(key));
    return known.get(key) as V;
  };
}

/** The attribute file of a directory. */
export function attributesFile(directory: string): string {
  return directory === "." ? ".gitattributes" : `${directory}/.gitattributes`;
}

export function isAttributesFile(path: string): boolean {
  return path === ".gitattributes" || path.endsWith("/.gitattributes");
}

/** Identifies attribute files that git may read from the index because they are missing or changed in the work tree. */
export function unseenAttributes(status: Status, sparse: boolean): string {
  const named = ({ path }: { path: string }) => isAttributesFile(path);
  const changed = [...status.tracked.filter(named), ...status.unmerged.filter(named)];
  return changed.length > 0 || sparse ? JSON.stringify([status.head, changed]) : "";
}

function textAt(file: string | Buffer): string | undefined {
  // Check first: most directories have none, and an exception costs several times as much as the check.
  if (!existsSync(file)) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

export interface Converted {
  entry: TreeEntry;
  /** Whether a checkout of the stored form would write different bytes. */
  lossy: boolean;
}

export interface Conversion {
  /** A file in neither collection could not be converted: a filter failed, or the file was just deleted. */
  stored: Map<string, Converted>;
  /** Files with a hanging filter. */
  hung: Set<string>;
}

export interface ConversionOptions {
  facts: ConversionConfig;
  /** Whether a filter is known to hang; then no filter runs. */
  isUnfiltered?: boolean;
  /** Time limit for filters. */
  timeoutMs?: number;
  /** Environment that names the object store, if it is not the repository. */
  objects?: Record<string, string>;
}

const FILTER_TIMEOUT_MS = 60_000;

/**
 * Stores the files as `git add` would, and reports which conversions are lossy. If a filter hangs, reports its files
 * and stores the others without filters.
 */
export async function storeConverted(
  workspace: Workspace,
  index: string,
  files: ReadonlyMap<string, Buffer>,
  { facts, isUnfiltered = false, timeoutMs = FILTER_TIMEOUT_MS, objects = {} }: ConversionOptions,
): Promise<Conversion> {
  const run = { workspace, index, objects, timeoutMs };
  if (!isUnfiltered) {
    const stored = await convert(run, files, []);
    if (stored !== "late") return { stored, hung: new Set() };
    if (facts.filterNames.length > 0) rememberHung(workspace, facts);
  }
  const hung = new Set(await filteredPaths(workspace, [...files.keys()]));
  const others = new Map([...files].filter(([path]) => !hung.has(path)));
  if (others.size === 0) return { stored: new Map(), hung };
  const stored = await convert(run, others, withoutFilters(facts));
  return stored === "late" ? { stored: new Map(), hung: new Set(files.keys()) } : { stored, hung };
}

/** The paths to which attributes assign a filter. Runs no filter. */
async function filteredPaths(workspace: Workspace, paths: readonly string[]): Promise<string[]> {
  const output = await gitIn(workspace).run(["check-attr", "-z", "--stdin", "filter"], { input: nulSeparated(paths) });
  const words = pathsAtNul(output);
  return paths.filter((_, i) => !/^(?:unspecified|unset|set)$/.test(words[3 * i + 2] ?? ""));
}

interface ConversionRun {
  workspace: Workspace;
  index: string;
  objects: Record<string, string>;
  timeoutMs: number;
}

/** Returns "late" if a filter took too long. */
async function convert(
  { workspace, index, objects, timeoutMs }: ConversionRun,
  files: ReadonlyMap<string, Buffer>,
  more: readonly string[],
): Promise<Map<string, Converted> | "late"> {
  const { args: place, cwd } = gitIn(workspace);
  const args = [...more, ...place];
  const began = performance.now();
  const left = () => Math.max(1, timeoutMs - (performance.now() - began));
  const temporary = join(workspace.stateDir, `convert.${process.pid}.index`);
  const written = join(workspace.stateDir, `convert.${process.pid}`);
  try {
    if (existsSync(index)) {
      copyFileSync(index, temporary);
      // git rereads a file only if the file is not older than the index, so a copy that looks newer would hide changes.
      const { atime, mtimeMs } = statSync(index);
      utimesSync(temporary, atime, Math.floor(mtimeMs / 1000));
    }
    makeDirectory(written);
    const env = { GIT_INDEX_FILE: temporary, ...objects };
    const names = nulSeparated(files.keys());
    const settings = [...args, "-c", "core.safecrlf=false", "-c", "core.splitIndex=false"];
    const update = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
    const added = await tryGit([...settings, ...update], { cwd, env, input: names, timeoutMs: left() });
    if (added.timedOut) return "late";
    if (added.code !== 0) throw gitFailure(update, added.code, added.stderr);
    const entries = await stagedEntries(workspace, env, [...files.keys()]);
    // A file that git cannot write back counts as lossy.
    const write = ["checkout-index", "--force", "-z", "--stdin", `--prefix=${written}/`];
    await tryGit([...args, ...write], { cwd, env, input: names, timeoutMs: left() });
    return compareWithFiles(written, entries, files);
  } catch (error) {
    logError("converting files as git does", error);
    return new Map();
  } finally {
    removeFile(temporary);
    rmSync(written, { recursive: true, force: true });
  }
}

async function stagedEntries(
  workspace: Workspace,
  env: Record<string, string>,
  paths: string[],
): Promise<Map<string, TreeEntry>> {
  const entries = new Map<string, TreeEntry>();
  const list = async (some: string[]) => {
    readStaged(await gitIn(workspace).run(["ls-files", "--stage", "-z", "--", ...some], { env }), entries);
  };
  // Names that are not UTF-8 cannot be arguments, so let git list everything.
  if (paths.some((path) => /[\udc80-\udcff]/.test(path))) await list([]);
  else {
    for (let i = 0; i < paths.length; i += PATHS_PER_CALL) {
      await list(paths.slice(i, i + PATHS_PER_CALL).map((path) => `:(top,literal)${path}`));
    }
  }
  return entries;
}

function readStaged(output: Buffer, entries: Map<string, TreeEntry>): void {
  for (let start = 0; start < output.length; ) {
    const end = output.indexOf(0, start);
    const record = output.subarray(start, end);
    const tab = record.indexOf(9);
    const [mode, id] = record.toString("latin1", 0, tab).split(" ");
    if (mode && id) entries.set(decodePath(record.subarray(tab + 1)), { mode, id });
    start = end + 1;
  }
}

/** `directory` holds the files as a checkout would write them; a file that differs is lossy. */
function compareWithFiles(
  directory: string,
  entries: ReadonlyMap<string, TreeEntry>,
  files: ReadonlyMap<string, Buffer>,
): Map<string, Converted> {
  const result = new Map<string, Converted>();
  for (const [path, content] of files) {
    const entry = entries.get(path);
    if (entry) result.set(path, { entry, lossy: !contentOf(onDisk(directory, path))?.equals(content) });
  }
  return result;
}

function contentOf(path: string | Buffer): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

export function nulSeparated(paths: Iterable<string>): Buffer {
  const parts: Buffer[] = [];
  for (const path of paths) parts.push(encodePath(path), NUL);
  return Buffer.concat(parts);
}

/** Parses paths from git's `-z` output. */
export function pathsAtNul(output: Buffer): string[] {
  return splitAtNul(output).map(decodePath);
}

const NUL = Buffer.from([0]);
