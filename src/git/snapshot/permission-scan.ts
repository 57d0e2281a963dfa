/** Scans the permissions of all tracked files. Runs in the background, since a hook has no time for it. */
import { removeFile, writeFileAtomic } from "../../base/fs/files.ts";
import { decodePath, onDisk } from "../../base/fs/path-bytes.ts";
import { gitIn } from "../git.ts";
import { privateIndex } from "../index/private-index.ts";
import { statOf } from "../index/stat-cache.ts";
import { EXECUTABLE_MODE, FILE_MODE } from "../objects/trees.ts";
import type { Workspace } from "../workspace.ts";
import { kindOf, PermissionNotes, permissionsDetail, recordableBits, scanFile } from "./permissions.ts";

export async function scanPermissions(workspace: Workspace): Promise<void> {
  const env = { GIT_INDEX_FILE: privateIndex(workspace).path };
  const listed = await gitIn(workspace).run(["ls-files", "--stage", "-z"], { env });
  const notes = new PermissionNotes(workspace.root);
  for (let start = 0; start < listed.length; ) {
    const end = listed.indexOf(0, start);
    const tab = listed.indexOf(9, start);
    const mode = listed.toString("latin1", start, start + FILE_MODE.length);
    if (mode === FILE_MODE || mode === EXECUTABLE_MODE)
      note(workspace, notes, decodePath(listed.subarray(tab + 1, end)), mode);
    start = end + 1;
  }
  const detail = permissionsDetail({ ...notes.result(), scanned: true });
  if (detail === null) removeFile(scanFile(workspace));
  else writeFileAtomic(scanFile(workspace), detail);
}

function note(workspace: Workspace, notes: PermissionNotes, path: string, mode: string): void {
  try {
    const stat = statOf(onDisk(workspace.root, path));
    if (stat?.isFile()) notes.add(path, kindOf({ mode }), recordableBits(stat));
  } catch {
    // A file that cannot be read has unknown permissions.
  }
}
