/**
 * Finds inexact files for a snapshot: files that git considers unchanged although a checkout would write different
 * bytes, for example after a line-ending conversion. If git converts nothing, this reads one small file and starts no
 * process.
 */
import { readFileSync } from "node:fs";
import { hexDigest } from "../../base/digest.ts";
import { parentOf } from "../../base/fs/path-bytes.ts";
import { logError } from "../../base/log.ts";
import type { ConversionConfig } from "../conversion/config-cache.ts";
import { attributesFile, type ConversionRules, isAttributesFile, pathsAtNul } from "../conversion/conversion.ts";
import { gitIn } from "../git.ts";
import type { Status } from "../snapshot/status.ts";
import type { Workspace } from "../workspace.ts";
import type { InexactFiles } from "./scan.ts";
import { indexIdentity, loadInexact, saveInexact } from "./state.ts";

export interface FindOptions {
  rules: ConversionRules;
  facts: ConversionConfig;
  status: Status;
  isUnfiltered: boolean;
  timeoutMs: number;
}

const NONE: InexactFiles = { files: [], complete: true };

/** Starts the work that needs only the index. Call the returned function once `git status` has finished. */
export function startFinding(workspace: Workspace, index: string): (options: FindOptions) => Promise<InexactFiles> {
  const identity = indexIdentity(index);
  const known = loadInexact(workspace);
  const isCurrent = known !== undefined && known.state.index === identity;
  const asksGit = isCurrent && known.state.rules !== "" && known.state.watched === null;
  const touched = asksGit ? touchedPaths(workspace, index) : Promise.resolve(undefined);
  const find = async ({ status, ...options }: FindOptions): Promise<InexactFiles> => {
    if (identity === undefined) return NONE;
    const attributes = isCurrent ? known.state.attributes : await attributeDirectories(workspace, index);
    const rules = printOf(options.rules, attributes, status);
    const valid = { index: identity, attributes, rules };
    if (rules === "") {
      if (!isCurrent || known.state.rules !== "")
        saveInexact(workspace, { ...valid, inexact: [], watched: [], recheck: false }, new Map());
      return NONE;
    }
    const changed = new Set([...status.tracked, ...status.unmerged].map(({ path }) => path));
    const { scanInexact } = await import("./scan.ts");
    return scanInexact({ ...options, workspace, index, valid, known, touched, changed });
  };
  return async (options) => {
    try {
      return await find(options);
    } catch (error) {
      // A snapshot without inexact files is better than none.
      logError("looking for files that git converts", error);
      return { files: [], complete: false };
    }
  };
}

/**
 * Paths with times that differ from the index. Unlike `git status`, `diff-files` also lists those with unchanged
 * content.
 */
async function touchedPaths(workspace: Workspace, index: string): Promise<string[] | undefined> {
  try {
    const list = ["diff-files", "--name-only", "-z", "--ignore-submodules=all"];
    const { code, stdout } = await gitIn(workspace).try(list, { env: { GIT_INDEX_FILE: index } });
    return code === 0 ? pathsAtNul(stdout) : undefined;
  } catch {
    return undefined;
  }
}

const NAME = ".gitattributes";
const VERSION_AT = 4;
/** From this version on, the index omits the prefix that a name shares with the previous one. */
const SHORTENED_NAMES = 4;

/** Directories with tracked attribute files. Usually the index's bytes show that there are none. */
async function attributeDirectories(workspace: Workspace, index: string): Promise<string[]> {
  const bytes = readFileSync(index);
  const isWhole = bytes.readUInt32BE(VERSION_AT) < SHORTENED_NAMES && !bytes.includes("link\0");
  if (isWhole && !bytes.includes(NAME)) return [];
  const list = ["ls-files", "-z", "--", `:(top,glob)**/${NAME}`];
  const output = await gitIn(workspace).run(list, { env: { GIT_INDEX_FILE: index } });
  return pathsAtNul(output).map(parentOf);
}

/** Fingerprint of all rules in the work tree; empty if git converts nothing. */
function printOf(rules: ConversionRules, attributes: readonly string[], { untracked }: Status): string {
  const own = untracked.filter(isAttributesFile).map(parentOf);
  const prints = [".", ...attributes, ...own].map((directory) => rules.fingerprintAt(attributesFile(directory)));
  return prints.every((print) => print === "") ? "" : hexDigest("sha1", prints.join());
}
