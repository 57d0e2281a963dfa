/** Stores the exact bytes of a large file as a blob. git reads the file, so this process never holds it in memory. */
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory, temporaryBeside } from "../../base/fs/files.ts";
import { logError } from "../../base/log.ts";
import { gitIn } from "../git.ts";
import { adoptPrivately } from "../private/store.ts";
import type { Workspace } from "../workspace.ts";

/** Compression takes most of the time; git compresses later when it packs. */
const UNCOMPRESSED = ["core.compression=0", "core.looseCompression=0", "pack.compression=0"];
/** From this size on, git streams a file. */
const PIECEWISE = "core.bigFileThreshold=8m";

/** Returns the blob's id, or undefined if git fails or runs out of time. */
export async function storeFile(
  workspace: Workspace,
  file: string | Buffer,
  isPrivate: boolean,
  timeoutMs: number,
): Promise<string | undefined> {
  const settings = [...UNCOMPRESSED, PIECEWISE].flatMap((setting) => ["-c", setting]);
  const apart = isPrivate ? temporaryBeside(join(workspace.stateDir, "store")) : undefined;
  let fd: number | undefined;
  try {
    fd = openSync(file, "r");
    if (apart !== undefined) makeDirectory(apart);
    const result = await gitIn(workspace).try([...settings, "hash-object", "-w", "--no-filters", "--stdin"], {
      ...(apart === undefined ? {} : { env: { GIT_OBJECT_DIRECTORY: apart } }),
      input: { fd },
      timeoutMs: Math.min(timeoutMs, MAX_TIMEOUT_MS),
    });
    if (result.code === 0) {
      if (apart !== undefined) adoptPrivately(workspace, apart);
      return result.stdout.toString("latin1").trim();
    }
    if (!result.timedOut) logError("storing a large file", result.stderr);
  } catch (error) {
    logError("storing a large file", error);
  } finally {
    if (fd !== undefined) closeSync(fd);
    if (apart !== undefined) rmSync(apart, { recursive: true, force: true });
  }
  return undefined;
}

const MAX_TIMEOUT_MS = 2 ** 31 - 1;
