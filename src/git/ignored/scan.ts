/** Scans a work tree for ignored files. A directory that is ignored as a whole is one entry. */
import { lstatSync, readdirSync } from "node:fs";
import { writeJson } from "../../base/fs/files.ts";
import { decodePath, onDisk } from "../../base/fs/path-bytes.ts";
import { logError } from "../../base/log.ts";
import { pathsAtNul } from "../conversion/conversion.ts";
import { gitIn } from "../git.ts";
import type { Workspace } from "../workspace.ts";
import { type IgnoredList, type KnownNames, listOf, MAX_LISTED, namesFile } from "./list.ts";

/** An ignored directory's direct files are listed too if it has at most this many entries. */
const MAX_IN_DIRECTORY = 20;
const TIMEOUT_MS = 10_000;
/** Directories of Backtrail and similar tools; the user does not care about changes there. */
const OWN = /^\.(?:aiwr|backtrail|entire)\//;

/** Finds the ignored files and saves their names for later snapshots. */
export async function scanIgnored(workspace: Workspace): Promise<IgnoredList> {
  const names = await findNames(workspace);
  try {
    writeJson(namesFile(workspace), { v: 1, ...names });
  } catch (error) {
    // The next scan saves them. The disk may be full or read-only.
    logError("names of ignored files", error);
  }
  return listOf(workspace.root, names);
}

/** If git fails, returns a cut list, so that no file is reported as removed or new because of it. */
async function findNames(workspace: Workspace): Promise<KnownNames> {
  const ask = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
  const { code, stdout } = await gitIn(workspace).try(ask, { timeoutMs: TIMEOUT_MS });
  if (code !== 0) return { cut: true, paths: [] };
  const found = pathsAtNul(stdout).filter((path) => !OWN.test(path));
  if (found.length > MAX_LISTED) return { cut: true, paths: found.sort(byDepth).slice(0, MAX_LISTED) };
  const inside = found.filter((path) => path.endsWith("/")).flatMap((path) => filesIn(workspace.root, path));
  return { cut: false, paths: [...found, ...inside.slice(0, MAX_LISTED - found.length)] };
}

/** Prefers paths near the root, which users know by name. */
function byDepth(a: string, b: string): number {
  return depthOf(a) - depthOf(b);
}

function depthOf(path: string): number {
  return path.replace(/\/$/, "").split("/").length;
}

function filesIn(root: string, directory: string): string[] {
  try {
    const found = readdirSync(onDisk(root, directory.slice(0, -1)), { encoding: "buffer" });
    if (found.length > MAX_IN_DIRECTORY) return [];
    return found.map((name) => directory + decodePath(name)).filter((path) => lstatSync(onDisk(root, path)).isFile());
  } catch {
    return [];
  }
}
