/** Library API: the files of a recorded state. Nothing is written to the work tree. */
import { ObjectReader } from "../git/objects/reader.ts";
import {
  EXECUTABLE_MODE,
  entryAt,
  GITLINK_MODE,
  SYMLINK_MODE,
  TREE_MODE,
  type TreeEntry,
  TreeStore,
} from "../git/objects/trees.ts";
import { ObjectWriter } from "../git/objects/writer.ts";
import type { Workspace } from "../git/workspace.ts";
import { resolveTarget } from "../restore/targets/resolve.ts";
import { ApiError } from "./problems.ts";

export interface FileEntry {
  name: string;
  kind: "directory" | "file" | "executable" | "link" | "submodule";
  /** Equal ids mean equal content, in every state. */
  id: string;
}

/**
 * Lists one directory of a recorded state, directories first; "" is the root. Accepts every target that `backtrail
 * rewind` accepts.
 *
 * @example
 * for (const { name, kind } of await listFiles(workspace, "prev", "src")) console.log(kind, name);
 */
export async function listFiles(workspace: Workspace, target: string, directory = ""): Promise<FileEntry[]> {
  const tree = await treeOfTarget(workspace, target);
  return withObjects(workspace, ({ trees }) => entriesOf(trees, tree, directory));
}

/**
 * Reads a file of a recorded state, as git stores it. A link's content is its target. Throws a `UserError` of the kind
 * `not-found` if the state has no such file.
 *
 * @example
 * const before = (await readFile(workspace, "prev", "src/cart.ts")).toString("utf8");
 */
export async function readFile(workspace: Workspace, target: string, path: string): Promise<Buffer> {
  const tree = await treeOfTarget(workspace, target);
  return withObjects(workspace, async ({ reader, trees }) => {
    const entry = await fileEntry(trees, tree, path);
    if (entry.mode === GITLINK_MODE || entry.mode === TREE_MODE) throw noFile(path);
    return reader.require(entry.id, "blob");
  });
}

export interface Objects {
  reader: ObjectReader;
  trees: TreeStore;
}

export async function withObjects<T>(workspace: Workspace, use: (objects: Objects) => Promise<T>): Promise<T> {
  const reader = new ObjectReader(workspace);
  try {
    return await use({ reader, trees: new TreeStore(reader, new ObjectWriter(workspace)) });
  } finally {
    reader.close();
  }
}

export async function entriesOf(trees: TreeStore, tree: string, directory: string): Promise<FileEntry[]> {
  const entry = directory === "" ? { mode: TREE_MODE, id: tree } : await fileEntry(trees, tree, directory);
  if (entry.mode !== TREE_MODE) throw new ApiError("not-found", { kind: "not-a-directory", path: directory });
  const entries = [...(await trees.read(entry.id))].map(([name, { mode, id }]) => ({ name, kind: kindOf(mode), id }));
  return entries.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

export async function fileEntry(trees: TreeStore, tree: string, path: string): Promise<TreeEntry> {
  const entry = await entryAt(trees, tree, path);
  if (entry) return entry;
  throw noFile(path);
}

function kindOf(mode: string): FileEntry["kind"] {
  if (mode === TREE_MODE) return "directory";
  if (mode === GITLINK_MODE) return "submodule";
  if (mode === SYMLINK_MODE) return "link";
  return mode === EXECUTABLE_MODE ? "executable" : "file";
}

function rank({ kind }: FileEntry): number {
  return kind === "directory" ? 0 : 1;
}

function noFile(path: string): ApiError {
  return new ApiError("not-found", { kind: "file-not-in-state", path });
}

async function treeOfTarget(workspace: Workspace, target: string): Promise<string> {
  const found = await resolveTarget(workspace, target);
  return found.kind === "step" ? found.step.snapshot.work : found.tree;
}
