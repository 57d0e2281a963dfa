/**
 * Adds summaries of sessions to existing checkpoints, in a new commit on the branch. The branch only moves if no other
 * process has moved it. All other fields of the session's metadata stay, including unknown ones.
 */

import { faultPoint } from "../../base/fault-point.ts";
import { isRecord } from "../../base/json.ts";
import type { ObjectStore } from "../../git/objects/object-store.ts";
import { FILE_MODE } from "../../git/objects/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import { moveBranch } from "../branch/branch.ts";
import { checkpointPlaces, whileObjectsStay } from "../branch/location.ts";
import { layoutJson, METADATA_FILE, type Summary, sessionPath } from "../format/layout.ts";
import { committingIn, treeOf, writeCommit } from "./commit.ts";
import { blobOf, openObjects, treeAt } from "./write.ts";

/** Returns false if the branch does not contain the checkpoint or the session (anymore). */
export async function writeSummary(
  workspace: Workspace,
  id: string,
  session: { index: number; id: string },
  summary: Summary,
): Promise<boolean> {
  for (const place of checkpointPlaces(workspace)) {
    if (await whileObjectsStay(place, () => writeInto(place, id, session, summary))) return true;
  }
  return false;
}

async function writeInto(
  place: Workspace,
  id: string,
  session: { index: number; id: string },
  summary: Summary,
): Promise<boolean> {
  using objects = openObjects(place);
  const committing = await committingIn(place);
  let found = false;
  await moveBranch(place, async (tip) => {
    const root = tip === null ? null : await treeOf(objects.reader, tip);
    const tree = root === null ? null : await withSummary(objects, root, id, session, summary);
    found = tree !== null;
    if (tip === null || tree === null || tree === root) return null;
    objects.writer.flush();
    const commit = await writeCommit(objects, committing, { tree, parents: [tip], message: `Summary: ${id}\n` });
    faultPoint("summary:objects");
    return commit;
  });
  return found;
}

async function withSummary(
  { reader, writer, trees }: ObjectStore,
  root: string,
  id: string,
  { index, id: session }: { index: number; id: string },
  summary: Summary,
): Promise<string | null> {
  const path = sessionPath(id, index);
  const data = await blobOf(reader, (await treeAt(trees, root, path)).get(METADATA_FILE));
  const metadata = data && objectIn(data);
  // Sessions keep their index; if this is another session, someone has rewritten the branch.
  if (metadata?.["session_id"] !== session) return null;
  const blob = writer.add("blob", Buffer.from(layoutJson({ ...metadata, summary })));
  return trees.apply(root, new Map([[`${path}/${METADATA_FILE}`, { mode: FILE_MODE, id: blob }]]));
}

function objectIn(data: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(data.toString("utf8"));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
