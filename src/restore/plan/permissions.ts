/** Decides the permissions of restored files and directories: those a step records, or the defaults it observed. */
import type { BigIntStats } from "node:fs";
import { onDisk, parentOf } from "../../base/fs/path-bytes.ts";
import { parentsOf } from "../../base/fs/tree-paths.ts";
import { compareTrees, type TreeDifference } from "../../git/objects/tree-diff.ts";
import {
  EXECUTABLE_MODE,
  entryAt,
  FILE_MODE,
  SYMLINK_MODE,
  TREE_MODE,
  type TreeEntry,
  type TreeStore,
} from "../../git/objects/trees.ts";
import { type DetailWriter, readDetail } from "../../git/snapshot/details.ts";
import {
  kindOf,
  type Permissions,
  PLAIN,
  parsePermissions,
  permissionsDetail,
  recordableBits,
  settableBits,
} from "../../git/snapshot/permissions.ts";
import type { Snapshot } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import { safeStat } from "../apply/move.ts";
import type { Change } from "../revert/revert.ts";
import type { FilePlan } from "../types.ts";

export interface PlannedPermissions {
  /** Permissions of the files to write. */
  files: ReadonlyMap<string, number>;
  /** Paths that the snapshot saw as real symbolic links. */
  links: ReadonlySet<string>;
  /** Files that differ only in their permissions. */
  only: ReadonlyMap<string, { entry: TreeEntry; permissions: number }>;
  /** Permissions for a directory that must be created. */
  directory(path: string): number | undefined;
  /** Existing directories whose permissions differ. */
  directories: ReadonlyMap<string, number>;
}

/** A state and the permissions it records. */
export interface PermittedState {
  work: string;
  /** The tracked files; null if unknown. */
  index: string | null;
  permissions?: string | null | undefined;
}

interface Question {
  workspace: Workspace;
  trees: TreeStore;
  present: Snapshot;
  differences: readonly TreeDifference[];
  /** Details of the current snapshot, which may not be on disk yet. */
  details: DetailWriter;
}

/** The permissions to restore a whole state. */
export async function permissionsThen(question: Question, then: PermittedState): Promise<PlannedPermissions> {
  const { workspace, trees, present, differences, details } = question;
  const recorded = await recordedPermissions(workspace, trees, then);
  if (!recorded) return NOTHING_KNOWN;
  const files = new Map<string, number>();
  const links = new Set<string>();
  const different = new Set<string>();
  for (const { path, after } of differences) {
    different.add(path);
    const permissions = after && (await recorded.of(path, after));
    if (typeof permissions === "number") files.set(path, permissions);
    if (after && (await recorded.isLink(path, after))) links.add(path);
  }
  const only = new Map<string, { entry: TreeEntry; permissions: number }>();
  const directories = new Map<string, number>();
  const now = detailOf(workspace, present.permissions, details) ?? PLAIN;
  for (const listed of new Set([...recorded.listed, ...Object.keys(now.modes)])) {
    const path = listed.replace(/\/$/, "");
    const stat = different.has(path) ? undefined : safeStat(onDisk(workspace.root, path));
    const entry = stat && (await entryAt(trees, then.work, path));
    if (!entry) continue;
    const bits = Number(stat.mode) & 0o7777;
    if (listed !== path) {
      const wanted = stat.isDirectory() && entry.mode === TREE_MODE ? recorded.listedDirectory(path) : undefined;
      if (wanted !== undefined && wanted !== bits) directories.set(path, wanted);
      continue;
    }
    const wanted = stat.isFile() ? await recorded.of(path, entry) : undefined;
    if (wanted !== undefined && wanted !== bits) only.set(path, { entry, permissions: wanted });
  }
  return { files, links, only, directories, directory: (path) => recorded.directory(path) };
}

/** The permissions to revert changes by merging: restored files get those from before the oldest change. */
export async function permissionsBefore(
  { workspace, trees, differences }: Question,
  changes: readonly Change[],
): Promise<PlannedPermissions> {
  const files = new Map<string, number>();
  const links = new Set<string>();
  const above = new Map<string, number>();
  const directories = new Map<string, number>();
  for (const { before, paths } of changes) {
    const { work, index = null, permissions } = before;
    const recorded = await recordedPermissions(workspace, trees, { work, index, permissions });
    const concerned = new Set(paths);
    for (const { path, before: now, after } of recorded ? differences : []) {
      if (!recorded || !after || !concerned.has(path)) continue;
      const wanted = await recorded.of(path, after);
      if (now) {
        // Permissions added for others since are removed; the user may have removed more.
        if (wanted !== undefined && isNarrower(workspace, path, wanted)) files.set(path, wanted);
        for (const parent of parentsOf(path)) {
          const then = recorded.listedDirectory(parent);
          if (then !== undefined && isNarrower(workspace, parent, then)) directories.set(parent, then);
        }
        continue;
      }
      if (wanted !== undefined) files.set(path, wanted);
      if (await recorded.isLink(path, after)) links.add(path);
      for (const parent of parentsOf(path)) above.set(parent, recorded.directory(parent));
    }
  }
  return { ...NOTHING_KNOWN, files, links, directories, directory: (path) => above.get(path) };
}

/** Whether these bits allow less than the present ones, and nothing else. */
function isNarrower(workspace: Workspace, path: string, bits: number): boolean {
  const stat = safeStat(onDisk(workspace.root, path));
  const present = stat && (stat.isFile() || stat.isDirectory()) ? Number(stat.mode) & 0o7777 : 0;
  return bits !== present && (bits & ~present) === 0;
}

const NOTHING_KNOWN: PlannedPermissions = {
  files: new Map(),
  links: new Set(),
  only: new Map(),
  directories: new Map(),
  directory: () => undefined,
};

interface Recorded {
  listed: string[];
  /** Undefined if the state did not record permissions. */
  of(path: string, entry: TreeEntry): Promise<number | undefined>;
  isLink(path: string, entry: TreeEntry): Promise<boolean>;
  directory(path: string): number;
  listedDirectory(path: string): number | undefined;
}

async function recordedPermissions(
  workspace: Workspace,
  trees: TreeStore,
  { work, index, permissions }: PermittedState,
): Promise<Recorded | undefined> {
  const known = permissions === null ? PLAIN : detailOf(workspace, permissions);
  if (!known) return undefined;
  const modes = new Map(Object.entries(known.modes).map(([path, mode]) => [path, settableBits(workspace, mode)]));
  const listedLinks = new Set(known.links);
  // One comparison of the two trees for all paths: looking up each path alone reads a tree object per directory.
  let readFiles: Promise<ReadonlySet<string>> | undefined;
  const wasRead = async (path: string) => {
    if (index === null) return false;
    readFiles ??= compareTrees(trees, index, work).then(
      (found) => new Set(found.filter(({ after }) => after !== null).map((difference) => difference.path)),
    );
    return (await readFiles).has(path);
  };
  return {
    listed: [...modes.keys()],
    of: async (path, entry) => {
      if (entry.mode !== FILE_MODE && entry.mode !== EXECUTABLE_MODE) return undefined;
      const isKnown = modes.has(path) || known.scanned || (await wasRead(path));
      return isKnown ? (modes.get(path) ?? known.usual[kindOf(entry)]) : undefined;
    },
    isLink: async (path, { mode }) => mode === SYMLINK_MODE && (listedLinks.has(path) || (await wasRead(path))),
    directory: (path) => modes.get(`${path}/`) ?? known.usual.directory,
    listedDirectory: (path) => modes.get(`${path}/`) ?? (known.isFresh ? known.usual.directory : undefined),
  };
}

function detailOf(
  workspace: Workspace,
  id: string | null | undefined,
  pending?: DetailWriter,
): Permissions | undefined {
  return id ? parsePermissions(pending?.get(id) ?? readDetail(workspace, id)) : undefined;
}

/**
 * The current snapshot as the safety step stores it: with the permissions of every path the restore touches. `stats`
 * are known already.
 */
export function withTouched(
  workspace: Workspace,
  details: DetailWriter,
  present: Snapshot,
  { write, delete: removed, chmod, directories = [] }: FilePlan,
  stats: ReadonlyMap<string, BigIntStats> = new Map(),
): Snapshot {
  const known = detailOf(workspace, present.permissions, details) ?? PLAIN;
  const modes = { ...known.modes };
  const links = new Set(known.links);
  const looked = new Set<string>();
  const lookAtDirectories = (path: string) => {
    for (let at = path; at !== "." && !looked.has(at); at = parentOf(at)) {
      looked.add(at);
      const stat = safeStat(onDisk(workspace.root, at));
      if (stat?.isDirectory()) modes[`${at}/`] = recordableBits(stat);
    }
  };
  for (const path of [...removed, ...[...write, ...chmod].map((planned) => planned.path)]) {
    const stat = stats.get(path) ?? safeStat(onDisk(workspace.root, path));
    if (stat?.isFile()) modes[path] = recordableBits(stat);
    if (stat?.isSymbolicLink()) links.add(path);
    lookAtDirectories(parentOf(path));
  }
  for (const { path } of directories) lookAtDirectories(path);
  const detail = permissionsDetail({ ...known, modes, links: [...links] });
  return { ...present, permissions: detail === null ? null : details.add(detail) };
}
