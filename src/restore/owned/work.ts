/**
 * Examines a work tree before its deletion: what a step can and can't hold, nested repositories, and who works there.
 * Reads everything and changes nothing, except that it adds unreferenced objects.
 */

import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { pathMatcher } from "../../base/fs/glob.ts";
import { onDisk } from "../../base/fs/path-bytes.ts";
import { isSafePath } from "../../base/fs/tree-paths.ts";
import { loadConfig } from "../../config/load.ts";
import { SYMLINK_MODE, type TreeEntry } from "../../git/objects/trees.ts";
import { SnapshotAdditions } from "../../git/snapshot/additions.ts";
import { type Capture, type Snapshot, startCapture } from "../../git/snapshot/snapshot.ts";
import type { Workspace } from "../../git/workspace.ts";
import { captureOptions } from "../../recording/dispatcher.ts";
import { ForkError } from "../fork/problems.ts";
import { type GitOperation, openSessions, operationsIn, processAt } from "./activity.ts";
import { type Contents, compareContents, contentIdOf, type ReadFiles, type UnheldFile } from "./contents.ts";
import { ignoredFiles } from "./ignored.ts";
import { type NestedRepository, nestedRepositories } from "./repositories.ts";
import type { WalkedFile } from "./walk.ts";

export interface Work {
  /** Holds every file that a step can hold, including those that git hides. */
  snapshot: Snapshot;
  /** Files in the snapshot that git hides: their bytes differ from what git assumes. */
  hidden: string[];
  /** Paths and content ids that are held once the snapshot is saved. */
  held: Map<string, string>;
  /** Paths that nothing holds. */
  unsaved: string[];
  repositories: NestedRepository[];
  read: ReadFiles;
  /** What would be lost, and who is working there. */
  asks: DropRisk[];
}

/** Something that a removal would lose or disturb. `more`: paths that are not listed. */
export type DropRisk =
  | { kind: "unmarked-fork"; directory: string }
  | { kind: "agent-in-turn" | "agent-open"; agent: string }
  | { kind: "process"; pid: number }
  | { kind: "ignored" | "unsaved"; path: string }
  | { kind: "ignored" | "unsaved"; more: number }
  | { kind: "git-operation"; operation: GitOperation };

const MAX_SHOWN = 10;

/**
 * `other` is a work tree whose identical ignored files count as held; `marks` are our files at the root. `use`
 * receives the snapshot while it can still be saved. `before` is the result of a recent read.
 */
export async function examine<T>(
  workspace: Workspace,
  other: string,
  marks: readonly string[],
  use: (work: Work, capture: Capture) => Promise<T>,
  before?: ReadFiles,
): Promise<T> {
  const pid = await processAt(workspace);
  const ignored = await ignoredFiles(workspace, other);
  const options = captureOptions(loadConfig(workspace));
  const capture = startCapture(workspace, options);
  try {
    const shown = await capture.finish();
    capture.writer.flush();
    const missed = shown.notCaptured.filter(({ why }) => why !== "nested-repository" && why !== "submodule");
    const skip = new Set([...marks, ...ignored.paths, ...missed.map(({ path }) => path)]);
    const contents = await compareContents(workspace, workspace.root, shown, skip, before);
    refuseBlocked(workspace, contents);
    const isExcluded = pathMatcher(options.exclude);
    const fits = ({ path, size, known }: UnheldFile) =>
      isSafePath(path) && size <= options.maxFileSize && (known || !isExcluded(path));
    const hidden = contents.unheld.filter(fits);
    const left = contents.unheld.filter((file) => !fits(file)).map(({ path }) => path);
    const snapshot = await withFiles(workspace, capture, shown, hidden, contents.held);
    const own = ignored.own.filter((path) => !marks.includes(path));
    const repositories = await nestedRepositories(
      workspace.root,
      contents.repositories,
      workspace.kind === "repository" ? join(workspace.gitDir, "modules") : null,
    );
    const work: Work = {
      snapshot,
      hidden: hidden.map(({ path }) => path),
      held: new Map([...contents.held, ...ignored.same]),
      unsaved: [...own.map((path) => path.replace(/\/$/, "")), ...missed.map(({ path }) => path), ...left],
      repositories,
      read: contents.read,
      asks: [
        ...openSessions(workspace),
        ...(pid === undefined ? [] : [{ kind: "process" as const, pid }]),
        ...shortened(own, "ignored"),
        ...shortened([...missed.map(({ path }) => path), ...left], "unsaved"),
        ...operationsIn(workspace).map((operation) => ({ kind: "git-operation" as const, operation })),
      ],
    };
    return await use(work, capture);
  } finally {
    capture.close();
  }
}

function refuseBlocked(workspace: Workspace, { blocked }: Contents): void {
  const [first, ...more] = blocked;
  if (!first) return;
  throw new ForkError("refused", { kind: "blocked", directory: workspace.root, first, more: more.length });
}

/** Adds the exact bytes of these files to the snapshot and to `held`. */
async function withFiles(
  workspace: Workspace,
  capture: Capture,
  snapshot: Snapshot,
  files: readonly WalkedFile[],
  held: Map<string, string>,
): Promise<Snapshot> {
  const entries = new Map<string, TreeEntry>();
  const additions = new SnapshotAdditions(workspace, capture);
  for (const { path, mode } of files) {
    const id = additions.writerFor(path).add("blob", bytesAt(workspace.root, path, mode));
    entries.set(path, { mode, id });
    held.set(path, contentIdOf({ mode, id }));
  }
  if (entries.size === 0) return snapshot;
  // git does not convert links, so their exact form is the stored one.
  const exact = [...entries].map(([path, entry]) => [path, entry.mode === SYMLINK_MODE ? null : entry] as const);
  const extended = await additions.apply(snapshot, entries, new Map(exact));
  capture.writer.flush();
  return extended;
}

function bytesAt(root: string, path: string, mode: string): Buffer {
  const place = onDisk(root, path);
  try {
    return mode === SYMLINK_MODE ? readlinkSync(place, { encoding: "buffer" }) : readFileSync(place);
  } catch (error) {
    throw new ForkError("refused", { kind: "file-unreadable", path, reason: messageOf(error) });
  }
}

function shortened(paths: readonly string[], kind: "ignored" | "unsaved"): DropRisk[] {
  const shown = paths.slice(0, MAX_SHOWN).map((path) => ({ kind, path }));
  const more = paths.length - shown.length;
  return more > 0 ? [...shown, { kind, more }] : shown;
}
