/**
 * Merges three trees with `git merge-tree` in a temporary repository that shares only objects with the user's, so that
 * none of the user's merge drivers, attributes or settings apply. git takes a merge base as an option only since 2.40,
 * so the trees become commits in that repository.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryBeside } from "../../base/fs/files.ts";
import { decodePath, splitAtNul } from "../../base/fs/path-bytes.ts";
import { ObjectWriter } from "../objects/writer.ts";
import { computingEnvironment, quotedPath } from "../private/store.ts";
import { gitFailure, tryGit } from "../run.ts";
import type { Workspace } from "../workspace.ts";

export interface ThreeTrees {
  base: string;
  ours: string;
  theirs: string;
}

/** The labels of conflict markers; they must be valid branch names. */
export interface SideNames {
  ours: string;
  theirs: string;
}

interface MergeConflict {
  /** git's name for the conflict: "contents", "binary", "modify/delete", … */
  kind: string;
  /** Every path that the conflict involves. */
  paths: string[];
}

/** A conflicting path, with each side's entry. */
interface UndecidedPath {
  path: string;
  stages: { stage: 1 | 2 | 3; mode: string; id: string }[];
}

export interface MergedTrees {
  /** The merged tree, with conflict markers where lines conflict. */
  tree: string;
  undecided: UndecidedPath[];
  conflicts: MergeConflict[];
}

const NO_SETTINGS = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_ATTR_NOSYSTEM: "1" };
const CONFLICTS = 1;

/** Flushes `writer` first, since git must find its objects. */
export async function mergeTrees(
  workspace: Workspace,
  writer: ObjectWriter,
  trees: ThreeTrees,
  names: SideNames,
): Promise<MergedTrees> {
  writer.flush();
  const directory = temporaryBeside(join(workspace.stateDir, "merge"));
  try {
    // Keep the commits out of the user's objects, which receive only the result.
    const own = new ObjectWriter({ commonDir: directory, hash: workspace.hash });
    const base = commit(own, trees.base);
    const ours = commit(own, trees.ours, base);
    const theirs = commit(own, trees.theirs, base);
    layOut(directory, workspace.hash, { [names.ours]: ours, [names.theirs]: theirs });
    own.flush();
    const computed = computingEnvironment(workspace);
    const borrowed = "GIT_OBJECT_DIRECTORY" in computed ? [join(workspace.commonDir, "objects")] : [];
    const args = ["-c", "merge.directoryRenames=false", "merge-tree", "--write-tree", "-z", "--messages"];
    const result = await tryGit([...args, names.ours, names.theirs], {
      cwd: directory,
      env: {
        ...NO_SETTINGS,
        GIT_DIR: directory,
        GIT_OBJECT_DIRECTORY: join(workspace.commonDir, "objects"),
        ...computed,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: [join(directory, "objects"), ...borrowed].map(quotedPath).join(":"),
      },
    });
    if (result.code !== 0 && result.code !== CONFLICTS) throw gitFailure(args, result.code, result.stderr);
    return parseMerge(result.stdout);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function commit(writer: ObjectWriter, tree: string, parent?: string): string {
  const who = "Backtrail <> 0 +0000";
  const lines = [`tree ${tree}`, ...(parent ? [`parent ${parent}`] : []), `author ${who}`, `committer ${who}`, "", ""];
  return writer.add("commit", Buffer.from(lines.join("\n")));
}

/** Creates the minimum that git accepts as a repository. */
function layOut(directory: string, hash: Workspace["hash"], branches: Record<string, string>): void {
  const heads = join(directory, "refs", "heads");
  mkdirSync(heads, { recursive: true, mode: 0o700 });
  mkdirSync(join(directory, "objects"));
  writeFileSync(join(directory, "HEAD"), "ref: refs/heads/none\n");
  const format = hash === "sha256" ? "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n" : "";
  writeFileSync(join(directory, "config"), `[core]\n\tbare = true\n${format}`);
  for (const [name, id] of Object.entries(branches)) writeFileSync(join(heads, name), `${id}\n`);
}

/**
 * The output is the tree, the conflicting paths with their stages, an empty field, and messages, each with its paths.
 */
function parseMerge(output: Buffer): MergedTrees {
  const fields = splitAtNul(output);
  const text = (at: number) => fields[at]?.toString("utf8") ?? "";
  const tree = text(0);
  const byPath = new Map<string, UndecidedPath>();
  let at = 1;
  for (; at < fields.length && fields[at]?.length !== 0; at++) {
    const field = fields[at] ?? Buffer.alloc(0);
    const tab = field.indexOf(9);
    const [mode = "", id = "", stage = ""] = field.toString("latin1", 0, tab).split(" ");
    const path = decodePath(field.subarray(tab + 1));
    const known = byPath.get(path) ?? { path, stages: [] };
    known.stages.push({ stage: Number(stage) as 1 | 2 | 3, mode, id });
    byPath.set(path, known);
  }
  const conflicts: MergeConflict[] = [];
  for (at++; at < fields.length; ) {
    const count = Number(text(at));
    if (!Number.isInteger(count) || text(at) === "") break;
    const paths = fields.slice(at + 1, at + 1 + count).map(decodePath);
    const kind = /^CONFLICT \((.*)\)$/.exec(text(at + 1 + count))?.[1];
    if (kind !== undefined) conflicts.push({ kind, paths });
    at += count + 3;
  }
  return { tree, undecided: [...byPath.values()], conflicts };
}
