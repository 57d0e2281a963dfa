/** Provides temporary tree access for queries that precede a plan. */

import { ObjectStore } from "../../git/objects/object-store.ts";
import type { TreeStore } from "../../git/objects/trees.ts";
import type { ObjectWriter } from "../../git/objects/writer.ts";
import { scratchPlace } from "../../git/private/store.ts";
import type { Workspace } from "../../git/workspace.ts";

export async function withTrees<T>(
  workspace: Workspace,
  work: (objects: { trees: TreeStore; writer: ObjectWriter }) => Promise<T>,
): Promise<T> {
  using objects = new ObjectStore(workspace, scratchPlace(workspace));
  return await work(objects);
}
