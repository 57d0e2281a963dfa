/**
 * Summaries of sessions, added to checkpoints that are there: a new commit on their branch, moved there only if nobody else has
 * moved it since. Everything else in the session's metadata stays as it is, also what we don't know.
 */
import { faultPoint } from "../base/fault.ts";
import { FILE_MODE } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { moveBranch } from "./branch.ts";
import { committingIn, treeOf, writeCommit } from "./commit.ts";
import { layoutJson, METADATA_FILE, type Summary, sessionPath } from "./layout.ts";
import { blobOf, type ObjectStore, openObjects, treeAt } from "./write.ts";

/** False where the checkpoint or the session is not on the branch (any more). */
export async function writeSummary(
  workspace: Workspace,
  id: string,
  session: { index: number; id: string },
  summary: Summary,
): Promise<boolean> {
  const objects = openObjects(workspace);
  try {
    const committing = await committingIn(workspace);
    let found = false;
    await moveBranch(workspace, async (tip) => {
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
  } finally {
    objects.reader.close();
  }
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
  // Sessions keep their places; if this is another one, somebody has rewritten the branch.
  if (metadata?.["session_id"] !== session) return null;
  const blob = writer.add("blob", Buffer.from(layoutJson({ ...metadata, summary })));
  return trees.apply(root, new Map([[`${path}/${METADATA_FILE}`, { mode: FILE_MODE, id: blob }]]));
}

function objectIn(data: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(data.toString("utf8"));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
