/**
 * Rewrites every commit of the checkpoint branch to remove data. Only for a branch that never left this machine: others
 * who have its commits would bring them back. A changed commit loses its signature, which would be invalid.
 */
import { gitIn } from "../../git/git.ts";
import type { ObjectStore } from "../../git/objects/object-store.ts";
import { TREE_MODE, type Tree, type TreeEntry } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import { CHECKPOINT_BRANCH } from "../format/layout.ts";
import { SYNC_REFS } from "../sync/state.ts";

/** Returns the changes to a checkpoint's files, by path from the root; null deletes a file. */
export type CheckpointFilter = (files: ReadonlyMap<string, string>) => Promise<ReadonlyMap<string, TreeEntry | null>>;

const SHARD = /^[0-9a-f]{2}$/;

/** Returns refs that hold another repository's copy of the branch. */
export async function sharedCheckpointRefs(workspace: Workspace): Promise<string[]> {
  const branch = CHECKPOINT_BRANCH.replace(/^refs\/heads\//, "");
  const listed = await gitIn(workspace).run(["for-each-ref", "--format=%(refname)", SYNC_REFS, "refs/remotes"]);
  const refs = listed.toString("utf8").split("\n");
  return refs.filter((ref) => ref.startsWith(SYNC_REFS) || ref.endsWith(`/${branch}`));
}

/** Writes the commits and returns the new tip; the same tip if nothing changes. */
export async function rewriteHistory(
  workspace: Workspace,
  objects: ObjectStore,
  tip: string,
  filter: CheckpointFilter,
): Promise<string> {
  const listed = await gitIn(workspace).run(["rev-list", "--topo-order", "--reverse", tip]);
  const trees = new FilteredTrees(objects, filter);
  const rewritten = new Map<string, string>();
  for (const commit of listed.toString("latin1").trim().split("\n")) {
    const data = await objects.reader.require(commit, "commit");
    const changed = await changedCommit(data.toString("latin1"), trees, rewritten);
    rewritten.set(commit, changed === null ? commit : objects.writer.add("commit", Buffer.from(changed, "latin1")));
  }
  objects.writer.flush();
  return rewritten.get(tip) ?? tip;
}

/** Returns null if the commit stays unchanged. The text is latin1, because a message may have any encoding. */
async function changedCommit(
  text: string,
  trees: FilteredTrees,
  rewritten: ReadonlyMap<string, string>,
): Promise<string | null> {
  const end = text.indexOf("\n\n");
  // A line that begins with a space continues the previous one.
  const header = text.slice(0, end).split(/\n(?! )/);
  const changed: string[] = [];
  for (const line of header) {
    const [, name, id = ""] = /^(tree|parent) ([0-9a-f]+)$/.exec(line) ?? [];
    if (name === "tree") changed.push(`tree ${await trees.root(id)}`);
    else changed.push(name === "parent" ? `parent ${rewritten.get(id) ?? id}` : line);
  }
  if (changed.join("\n") === header.join("\n")) return null;
  return changed.filter((line) => !line.startsWith("gpgsig")).join("\n") + text.slice(end);
}

/** Filters each directory once, however many commits contain it. */
class FilteredTrees {
  readonly #objects: ObjectStore;
  readonly #filter: CheckpointFilter;
  readonly #known = new Map<string, string | null>();

  constructor(objects: ObjectStore, filter: CheckpointFilter) {
    this.#objects = objects;
    this.#filter = filter;
  }

  async root(id: string): Promise<string> {
    const shard = (name: string, below: string) =>
      this.#directory(below, `${name}/`, (rest, checkpoint) => this.#checkpoint(checkpoint, `${name}/${rest}/`));
    const changed = await this.#directory(id, "", async (name, below) =>
      SHARD.test(name) ? shard(name, below) : below,
    );
    return changed ?? id;
  }

  async #directory(
    id: string,
    prefix: string,
    below: (name: string, id: string) => Promise<string | null>,
  ): Promise<string | null> {
    const key = `${prefix}${id}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const tree: Tree = new Map(await this.#objects.trees.read(id));
    for (const [name, entry] of tree) {
      if (entry.mode !== TREE_MODE) continue;
      const changed = await below(name, entry.id);
      if (changed === null) tree.delete(name);
      else tree.set(name, { ...entry, id: changed });
    }
    const result = tree.size > 0 || prefix === "" ? this.#objects.trees.write(tree) : null;
    this.#known.set(key, result);
    return result;
  }

  async #checkpoint(id: string, prefix: string): Promise<string | null> {
    const key = `${prefix}${id}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const files = new Map<string, string>();
    await this.#list(id, prefix, files);
    const changes = new Map<string, TreeEntry | null>();
    for (const [path, entry] of await this.#filter(files)) changes.set(path.slice(prefix.length), entry);
    const after = await this.#objects.trees.apply(id, changes);
    const result = (await this.#objects.trees.read(after)).size > 0 ? after : null;
    this.#known.set(key, result);
    return result;
  }

  async #list(id: string, prefix: string, files: Map<string, string>): Promise<void> {
    for (const [name, entry] of await this.#objects.trees.read(id)) {
      if (entry.mode === TREE_MODE) await this.#list(entry.id, `${prefix}${name}/`, files);
      else if (entry.mode.startsWith("100")) files.set(prefix + name, entry.id);
    }
  }
}
