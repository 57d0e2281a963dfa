/**
 * A three-way merge of trees by git's own `merge-tree`, in a repository of our own that shares nothing with the user's
 * but the objects: no merge driver, attribute or setting of theirs decides, and no work tree is looked at. git learned to
 * take a merge base as an option only in 2.40, so the three trees become commits, in that repository alone.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryBeside } from "../base/files.ts";
import { decodePath } from "../base/path-bytes.ts";
import { ObjectWriter } from "./objects.ts";
import { gitFailure, tryGit } from "./run.ts";
import type { Workspace } from "./workspace.ts";

export interface ThreeTrees {
  base: string;
  ours: string;
  theirs: string;
}

/** As they stand behind the markers of a conflict; they must do as names of branches. */
export interface SideNames {
  ours: string;
  theirs: string;
}

export interface MergeConflict {
  /** As git calls it: "contents", "binary", "modify/delete", … */
  kind: string;
  /** Every path that has to do with it. */
  paths: string[];
}

/** A path that could not be decided, with what each side has there. */
export interface UndecidedPath {
  path: string;
  stages: { stage: 1 | 2 | 3; mode: string; id: string }[];
}

export interface MergedTrees {
  /** With markers where lines conflict. */
  tree: string;
  undecided: UndecidedPath[];
  conflicts: MergeConflict[];
}

const NO_SETTINGS = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_ATTR_NOSYSTEM: "1" };
const CONFLICTS = 1;

/** What `writer` holds is written out first: git must find it. */
export async function mergeTrees(
  workspace: Workspace,
  writer: ObjectWriter,
  trees: ThreeTrees,
  names: SideNames,
): Promise<MergedTrees> {
  writer.flush();
  const directory = temporaryBeside(join(workspace.stateDir, "merge"));
  try {
    // Beside the user's objects, where nothing but the result is added.
    const own = new ObjectWriter({ commonDir: directory, hash: workspace.hash });
    const base = commit(own, trees.base);
    const ours = commit(own, trees.ours, base);
    const theirs = commit(own, trees.theirs, base);
    layOut(directory, workspace.hash, { [names.ours]: ours, [names.theirs]: theirs });
    own.flush();
    const args = ["-c", "merge.directoryRenames=false", "merge-tree", "--write-tree", "-z", "--messages"];
    const result = await tryGit([...args, names.ours, names.theirs], {
      cwd: directory,
      env: {
        ...NO_SETTINGS,
        GIT_DIR: directory,
        GIT_OBJECT_DIRECTORY: join(workspace.commonDir, "objects"),
        GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(directory, "objects")),
      },
    });
    if (result.code !== 0 && result.code !== CONFLICTS) throw gitFailure(args, result.code, result.stderr);
    return parseMerge(result.stdout);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** One path of a list that colons divide. */
function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, "\\$&")}"`;
}

function commit(writer: ObjectWriter, tree: string, parent?: string): string {
  const who = "Backtrail <> 0 +0000";
  const lines = [`tree ${tree}`, ...(parent ? [`parent ${parent}`] : []), `author ${who}`, `committer ${who}`, "", ""];
  return writer.add("commit", Buffer.from(lines.join("\n")));
}

/** The least that git takes for a repository. */
function layOut(directory: string, hash: Workspace["hash"], branches: Record<string, string>): void {
  const heads = join(directory, "refs", "heads");
  mkdirSync(heads, { recursive: true, mode: 0o700 });
  mkdirSync(join(directory, "objects"));
  writeFileSync(join(directory, "HEAD"), "ref: refs/heads/none\n");
  const format = hash === "sha256" ? "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n" : "";
  writeFileSync(join(directory, "config"), `[core]\n\tbare = true\n${format}`);
  for (const [name, id] of Object.entries(branches)) writeFileSync(join(heads, name), `${id}\n`);
}

/** The tree; paths in doubt with their stages; an empty field; then messages, each with how many paths it is about. */
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

function splitAtNul(bytes: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, start)) {
    fields.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return fields;
}
