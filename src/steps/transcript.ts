/** The conversation of a step, read back from the segments that its session's ref holds. */
import { ObjectWriter } from "../git/objects.ts";
import { ObjectReader } from "../git/reader.ts";
import { readRef } from "../git/refs.ts";
import { TREE_MODE, TreeStore } from "../git/trees.ts";
import type { Workspace } from "../git/workspace.ts";
import { directoryAt, sessionRef } from "./session-tree.ts";

/** The first `end` bytes of a stored transcript; what was not stored is missing at the end. */
export async function readTranscript(
  workspace: Workspace,
  key: string,
  generation: number,
  end: number,
  stream = "transcript",
): Promise<Buffer> {
  const root = await readRef(workspace, sessionRef(key));
  if (!root) return Buffer.alloc(0);
  const reader = new ObjectReader(workspace);
  try {
    const trees = new TreeStore(reader, new ObjectWriter(workspace));
    const groups = await directoryAt(trees, root, `${stream}/${generation}`);
    const pieces: { offset: number; data: Buffer }[] = [];
    for (const [name, entry] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (entry.mode !== TREE_MODE || Number(name) >= end) continue;
      for (const [offset, segment] of [...(await trees.read(entry.id))].sort(([a], [b]) => (a < b ? -1 : 1))) {
        if (Number(offset) < end)
          pieces.push({ offset: Number(offset), data: await reader.require(segment.id, "blob") });
      }
    }
    return join(pieces, end);
  } finally {
    reader.close();
  }
}

/** Segments may overlap where a save was repeated after a crash; a gap ends what can be read. */
function join(pieces: { offset: number; data: Buffer }[], end: number): Buffer {
  const parts: Buffer[] = [];
  let position = 0;
  for (const { offset, data } of pieces) {
    if (offset > position) break;
    if (offset + data.length <= position) continue;
    const part = data.subarray(position - offset, Math.min(data.length, end - offset));
    parts.push(part);
    position += part.length;
  }
  return Buffer.concat(parts);
}
