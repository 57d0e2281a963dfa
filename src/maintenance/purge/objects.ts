/**
 * Finds and deletes objects in the user's repository that only steps hold. git would keep them until its next garbage
 * collection. Deletes them one by one, since `git prune` would also delete objects that the user may want to recover:
 * commits of a dropped stash, files that were staged once.
 */

import { rmdirSync, statSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { CHECKPOINT_BRANCH } from "../../checkpoints/format/layout.ts";
import { gitIn } from "../../git/git.ts";
import { ObjectStore } from "../../git/objects/object-store.ts";
import { looseIn } from "../../git/objects/pack-loose.ts";
import { TREE_MODE, type TreeStore } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";

const OWN_REFS = "refs/backtrail/";
const TIMEOUT_MS = 600_000;
const NEWLINE = 10;
const STEP_ID = /^[k-z]{12}$/;
const HOUR = /^\d{4}-\d\d-\d\dT\d\d$/;
const SESSION_PARTS = new Set(["steps", "transcript", "tasks"]);
const WALK = ["rev-list", "--objects", "--no-object-names", "--missing=allow-any"];

export interface OwnRef {
  name: string;
  object: string;
  type: string;
}

/** With `checkpoints`, includes the checkpoint branch of the user's repository. */
export async function ownRefs(workspace: Workspace, checkpoints: boolean): Promise<OwnRef[]> {
  const format = "--format=%(objecttype) %(objectname) %(refname)";
  const names = [OWN_REFS, ...(checkpoints ? [CHECKPOINT_BRANCH] : [])];
  const listed = await gitIn(workspace).run(["for-each-ref", format, ...names]);
  return lines(listed).flatMap((line) => {
    const [type = "", object = "", name = ""] = line.split(" ");
    return name === "" ? [] : [{ name, object, type }];
  });
}

/**
 * All objects that are or were reachable from these refs: each save leaves the session's earlier trees behind, with
 * steps deleted since. Leaves the user's commits that steps kept to git.
 */
export async function objectsOf(workspace: Workspace, refs: readonly OwnRef[]): Promise<Set<string>> {
  const isOurs = ({ name, type }: OwnRef) => name === CHECKPOINT_BRANCH || type === "tree" || type === "blob";
  const roots = [...refs.filter(isOurs).map(({ object }) => object), ...(await earlierSessionTrees(workspace))];
  if (roots.length === 0) return new Set();
  const input = `${roots.join("\n")}\n`;
  return new Set(lines(await gitIn(workspace).run([...WALK, "--stdin"], { input, timeoutMs: TIMEOUT_MS })));
}

/** Loose trees that contain only names specific to session trees: `steps`, hours, step ids. */
async function earlierSessionTrees(workspace: Workspace): Promise<string[]> {
  const loose = looseIn(join(workspace.commonDir, "objects"));
  const check = ["cat-file", "--buffer", "--batch-check=%(objecttype) %(objectname)"];
  const input = loose.map((id) => `${id}\n`).join("");
  const listed = lines(await gitIn(workspace).run(check, { input, timeoutMs: TIMEOUT_MS }));
  using objects = new ObjectStore(workspace);
  const found: string[] = [];
  for (const line of listed) {
    const [type, id = ""] = line.split(" ");
    if (type === "tree" && (await isSessionTree(objects.trees, id))) found.push(id);
  }
  return found;
}

async function isSessionTree(trees: TreeStore, id: string): Promise<boolean> {
  const entries = [...(await trees.read(id))];
  if (entries.length === 0 || entries.some(([, { mode }]) => mode !== TREE_MODE)) return false;
  const names = entries.map(([name]) => name);
  if (names.every((name) => STEP_ID.test(name)) || names.every((name) => HOUR.test(name))) return true;
  const steps = names.every((name) => SESSION_PARTS.has(name)) ? entries.find(([name]) => name === "steps") : undefined;
  return steps !== undefined && [...(await trees.read(steps[1].id)).keys()].every((name) => HOUR.test(name));
}

/**
 * The subset of `objects` that the user does not need: not reachable from a ref, a reflog, an index of a work tree, or
 * any commit or tag in the object store, even an unreferenced one.
 */
export async function unneeded(
  workspace: Workspace,
  objects: ReadonlySet<string>,
  checkpoints: boolean,
): Promise<Set<string>> {
  const left = new Set(objects);
  if (left.size === 0) return left;
  const git = gitIn(workspace);
  const list = ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname)"];
  const roots = lines(await git.run(list, { timeoutMs: TIMEOUT_MS })).flatMap((line) => {
    const [type, id = ""] = line.split(" ");
    return (type === "commit" || type === "tag") && !objects.has(id) ? [id] : [];
  });
  const except = [`${OWN_REFS}*`, ...(checkpoints ? [CHECKPOINT_BRANCH] : [])].map((refs) => `--exclude=${refs}`);
  const walk = [...WALK, ...except, "--all", "--reflog", "--indexed-objects", "--stdin"];
  const needed = await git.run(walk, { input: roots.map((id) => `${id}\n`).join(""), timeoutMs: TIMEOUT_MS });
  for (let at = 0; at < needed.length; ) {
    const end = needed.indexOf(NEWLINE, at);
    left.delete(needed.toString("latin1", at, end === -1 ? needed.length : end));
    if (end === -1) break;
    at = end + 1;
  }
  return left;
}

export interface LooseObjects {
  loose: number;
  bytes: number;
  /** Objects in packs, which only git can delete. */
  packed: number;
}

export function measureLoose({ commonDir }: Workspace, ids: ReadonlySet<string>): LooseObjects {
  const found: LooseObjects = { loose: 0, bytes: 0, packed: 0 };
  for (const id of ids) {
    const stat = statSync(fileOf(commonDir, id), { throwIfNoEntry: false });
    if (stat) {
      found.loose++;
      found.bytes += stat.size;
    } else found.packed++;
  }
  return found;
}

/**
 * Deletes the files of loose objects, except those modified after `since`: git updates the timestamp of an existing
 * object instead of writing it again.
 */
export function removeLoose({ commonDir }: Workspace, ids: ReadonlySet<string>, since: number): void {
  for (const id of ids) {
    const file = fileOf(commonDir, id);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat || stat.mtimeMs > since) continue;
    unlinkSync(file);
    try {
      rmdirSync(dirname(file));
    } catch (error) {
      if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
    }
  }
}

function fileOf(commonDir: string, id: string): string {
  return join(commonDir, "objects", id.slice(0, 2), id.slice(2));
}

function lines(output: Buffer): string[] {
  return output
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
}
