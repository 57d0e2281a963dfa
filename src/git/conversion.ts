/**
 * Which files git would store differently from how they lie in the work tree (line endings, LFS, encodings),
 * and storing those the way git does. Most repositories convert nothing, and deciding that starts no process.
 */
import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { hexDigest } from "../base/digest.ts";
import { makeDirectory, removeFile } from "../base/files.ts";
import { logError } from "../base/log.ts";
import { decodePath, encodePath, onDisk, parentOf } from "../base/path-bytes.ts";
import type { GitFacts } from "./facts.ts";
import { gitLocation } from "./location.ts";
import { git, tryGit } from "./run.ts";
import type { TreeEntry } from "./trees.ts";
import type { Workspace } from "./workspace.ts";

/** How much a set of attributes can change a file: nothing, CRLF to LF, also LF to CRLF, anything. */
type Reach = 0 | 1 | 2 | 3;

const ANYTHING = /filter|ident|working-tree-encoding|\[attr\]/;
const PATHS_PER_CALL = 400;

interface Rules {
  reach: Reach;
  /** Differs where the rules do; empty where nothing is converted. */
  print: string;
}

export class ConversionRules {
  readonly #attributesIn: (directory: string) => string | undefined;
  readonly #facts: GitFacts;
  readonly #everywhere: Rules;
  readonly #byDirectory = new Map<string, Rules>();

  /**
   * git falls back to the index for attribute files that are missing. They are not followed there: where they may
   * be (`unseen` says what is known of them, empty where all lie in the work tree) anything may happen to a file.
   * `attributesIn` gives a directory's attribute file where it is not the one that lies in the work tree.
   */
  constructor(
    workspace: Workspace,
    facts: GitFacts,
    unseen: string,
    attributesIn = (directory: string) => textAt(onDisk(workspace.root, attributesFile(directory))),
  ) {
    this.#attributesIn = attributesIn;
    this.#facts = facts;
    const home = process.env["HOME"] || homedir();
    const own = facts.attributesFile?.replace(/^~(?=\/)/, home);
    const sources = [
      join(workspace.commonDir, "info", "attributes"),
      own ?? join(process.env["XDG_CONFIG_HOME"] || join(home, ".config"), "git", "attributes"),
      "/etc/gitattributes",
    ];
    const reach: Reach = unseen ? 3 : facts.autocrlf === "true" ? 2 : facts.autocrlf === "input" ? 1 : 0;
    let rules: Rules = { reach, print: reach > 0 ? hexDigest("sha1", JSON.stringify(facts), unseen) : "" };
    for (const source of sources) rules = this.#with(rules, textAt(source));
    this.#everywhere = rules;
  }

  /** Whether any content at `path` might be stored in another form. */
  reaches(path: string): boolean {
    return this.#rulesIn(parentOf(path)).reach > 0;
  }

  /** Whether git might store `content` at `path` in another form. False is certain. */
  mayConvert(path: string, content: Buffer): boolean {
    const { reach } = this.#rulesIn(parentOf(path));
    if (reach === 0) return false;
    if (reach === 1) return content.includes(0x0d);
    return true;
  }

  /** Whether git would write a file there as it keeps it. True is certain. */
  writesAsKept(path: string): boolean {
    return this.#rulesIn(parentOf(path)).reach <= 1;
  }

  /** What decides how git stores a file there: what was stored under another print is not known any longer. */
  printAt(path: string): string {
    return this.#rulesIn(parentOf(path)).print;
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
    const reach = own > rules.reach ? own : rules.reach;
    return reach === 0 ? rules : { reach, print: hexDigest("sha1", rules.print, JSON.stringify(this.#facts), text) };
  }

  #reachOf(text: string): Reach {
    if (ANYTHING.test(text)) return 3;
    if (!/\b(text|eol|crlf|binary)\b/.test(text)) return 0;
    return this.#facts.writesCrlf || text.includes("eol=crlf") ? 2 : 1;
  }
}

/** The file that says which attributes hold in a directory. */
export function attributesFile(directory: string): string {
  return directory === "." ? ".gitattributes" : `${directory}/.gitattributes`;
}

export function isAttributesFile(path: string): boolean {
  return path === ".gitattributes" || path.endsWith("/.gitattributes");
}

function textAt(file: string | Buffer): string | undefined {
  // Most directories have none, and an error costs several times as much as an answer.
  if (!existsSync(file)) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

export interface Converted {
  entry: TreeEntry;
  /** Whether writing the stored form back would give other bytes than the file has now. */
  lossy: boolean;
}

/**
 * Stores the files as `git add` would, and says for which of them that loses something. A file that is missing
 * from the answer could not be converted (a filter's program failed, the file has just gone).
 */
export async function storeConverted(
  workspace: Workspace,
  index: string,
  files: ReadonlyMap<string, Buffer>,
): Promise<Map<string, Converted>> {
  const { args, cwd } = gitLocation(workspace);
  const temporary = join(workspace.stateDir, `convert.${process.pid}.index`);
  const written = join(workspace.stateDir, `convert.${process.pid}`);
  try {
    if (existsSync(index)) copyFileSync(index, temporary);
    makeDirectory(written);
    const env = { GIT_INDEX_FILE: temporary };
    const names = nulSeparated(files.keys());
    const settings = [...args, "-c", "core.safecrlf=false", "-c", "core.splitIndex=false"];
    await git([...settings, "update-index", "--add", "--remove", "--replace", "-z", "--stdin"], {
      cwd,
      env,
      input: names,
    });
    const entries = await stagedEntries(workspace, env, [...files.keys()]);
    // What could not be written back counts as lost.
    await tryGit([...args, "checkout-index", "--force", "-z", "--stdin", `--prefix=${written}/`], {
      cwd,
      env,
      input: names,
    });
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
  const { args, cwd } = gitLocation(workspace);
  const entries = new Map<string, TreeEntry>();
  const list = async (some: string[]) => {
    readStaged(await git([...args, "ls-files", "--stage", "-z", "--", ...some], { cwd, env }), entries);
  };
  // Names that are not UTF-8 cannot be arguments: then git lists everything.
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

/** `directory` holds what git would write for the entries; what differs from the files is lossy. */
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

/** Paths as git prints them with `-z`. */
export function pathsAtNul(output: Buffer): string[] {
  const paths: string[] = [];
  let start = 0;
  for (let end = output.indexOf(0); end !== -1; end = output.indexOf(0, start)) {
    paths.push(decodePath(output.subarray(start, end)));
    start = end + 1;
  }
  return paths;
}

const NUL = Buffer.from([0]);
