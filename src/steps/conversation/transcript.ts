/** Reads the conversation of a step from its stored segments. */

import { ObjectStore } from "../../git/objects/object-store.ts";
import { TREE_MODE } from "../../git/objects/trees.ts";
import { readRef } from "../../git/refs.ts";
import type { Workspace } from "../../git/workspace.ts";
import { directoryAt, sessionRef } from "../session-tree.ts";
import { conversationDirectory, joinSegments, readSegments, type StoredSegment } from "./files.ts";

/** The first `end` bytes of a stored transcript, or fewer if not all of them are stored. */
export async function readTranscript(
  workspace: Workspace,
  key: string,
  generation: number,
  end: number,
  stream = "transcript",
): Promise<Buffer> {
  const stored = readSegments(conversationDirectory(workspace, key), stream, generation, end);
  const whole = joinSegments(stored, end);
  if (whole.length >= end) return whole;
  const earlier = await earlierSegments(workspace, key, stream, generation, end);
  if (earlier.length === 0) return whole;
  return joinSegments([...earlier, ...stored].sort(byOffset), end);
}

/** Segments that an earlier version stored as objects and that are not migrated yet. */
async function earlierSegments(
  workspace: Workspace,
  key: string,
  stream: string,
  generation: number,
  end: number,
): Promise<StoredSegment[]> {
  const root = await readRef(workspace, sessionRef(key));
  if (root === null) return [];
  using objects = new ObjectStore(workspace);
  const found: StoredSegment[] = [];
  for (const [name, entry] of await directoryAt(objects.trees, root, `${stream}/${generation}`)) {
    if (entry.mode !== TREE_MODE || Number(name) >= end) continue;
    for (const [offset, { id }] of await objects.trees.read(entry.id))
      if (Number(offset) < end) found.push({ offset: Number(offset), data: await objects.reader.require(id, "blob") });
  }
  return found;
}

function byOffset(a: StoredSegment, b: StoredSegment): number {
  return a.offset - b.offset;
}
