/**
 * A store as earlier versions left it: step records and conversations in git's object store, under the sessions' refs. Also a
 * program of its own (`old-layout.ts <root>`).
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ObjectReader } from "../../src/git/objects/reader.ts";
import { FILE_MODE, type TreeEntry, TreeStore } from "../../src/git/objects/trees.ts";
import { ObjectWriter } from "../../src/git/objects/writer.ts";
import { compareAndSwapRef } from "../../src/git/refs.ts";
import { findWorkspace, type Workspace } from "../../src/git/workspace.ts";
import { conversationDirectory, readSegments, recordsFile } from "../../src/steps/conversation/files.ts";
import { recordsNewestFirst } from "../../src/steps/index-file.ts";
import { sessionRoots } from "../../src/steps/session-refs.ts";
import { sessionRef, stepPath } from "../../src/steps/session-tree.ts";

/** Everything that is recorded now becomes such a store. */
export async function toOldLayout(workspace: Workspace): Promise<void> {
  const reader = new ObjectReader(workspace);
  try {
    for (const [key, root] of await sessionRoots(workspace)) {
      const writer = new ObjectWriter(workspace);
      const changes = new Map<string, TreeEntry>();
      const put = (path: string, data: Uint8Array) =>
        changes.set(path, { mode: FILE_MODE, id: writer.add("blob", data) });
      for (const step of recordsNewestFirst(recordsFile(workspace, key)))
        put(`${stepPath(step)}/step.json`, Buffer.from(`${JSON.stringify(step)}\n`));
      const directory = conversationDirectory(workspace, key);
      for (const { stream, generation } of streamsIn(directory)) {
        for (const { offset, data } of readSegments(directory, stream, generation, Number.POSITIVE_INFINITY)) {
          const name = String(offset).padStart(14, "0");
          put(`${stream}/${generation}/${"0".repeat(14)}/${name}`, data ?? Buffer.alloc(0));
        }
      }
      const after = await new TreeStore(reader, writer).apply(root, changes);
      writer.flush();
      if (!(await compareAndSwapRef(workspace, sessionRef(key), root, after))) throw new Error("The ref has moved.");
    }
  } finally {
    reader.close();
  }
  for (const name of ["conversations", "layout"])
    rmSync(join(workspace.storeDir, name), { recursive: true, force: true });
}

function streamsIn(directory: string): { stream: string; generation: number }[] {
  const names = (path: string) => {
    try {
      return readdirSync(join(directory, path));
    } catch {
      return [];
    }
  };
  const streams = ["transcript", ...names("tasks").map((task) => `tasks/${task}`)];
  return streams.flatMap((stream) => names(stream).map((generation) => ({ stream, generation: Number(generation) })));
}

if (import.meta.main) {
  const workspace = findWorkspace(process.argv[2] ?? "");
  if (!workspace) throw new Error("There is no workspace.");
  await toOldLayout(workspace);
}
