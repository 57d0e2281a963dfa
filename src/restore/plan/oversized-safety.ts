/** Detects a safety step that would exceed the size limit for steps, so that the plan can warn about it. */
import { now } from "../../base/clock.ts";
import { onDisk } from "../../base/fs/path-bytes.ts";
import { loadConfig } from "../../config/load.ts";
import type { Capture } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import { safetyKeptUntil } from "../../steps/upkeep/retention.ts";
import { safeStat } from "../apply/move.ts";
import type { FilePlan, OversizedSafety } from "../types.ts";

/** Counts only the files the restore replaces or deletes. `seen`: files as the snapshot found them. */
export function oversizedSafety(workspace: Workspace, files: FilePlan, seen: Capture["seen"]): OversizedSafety | null {
  const { retention } = loadConfig(workspace);
  let bytes = 0;
  for (const path of [...files.delete, ...files.write.map((write) => write.path)])
    bytes += Number((seen(path)?.stat ?? safeStat(onDisk(workspace.root, path)))?.size ?? 0);
  if (bytes <= retention.max_size) return null;
  const keptUntil = safetyKeptUntil(now(), retention.days).toISOString();
  return { bytes, limit: retention.max_size, keptUntil };
}
