/**
 * Manages the ignored paths linked or copied into a fork. A rule like `node_modules/` matches only directories, so git
 * would show a link as a new file, and in a fork of an older step a rule may be missing. Each path that git would show
 * gets a line in `info/exclude` while the fork exists.
 */

import { join } from "node:path";
import { excludeEdit } from "../../edit/exclude.ts";
import { type EditOwner, inspectEdit, installEdit, uninstallEdit } from "../../edit/record.ts";
import { gitIn } from "../../git/git.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { ForkRecord } from "../../steps/forks.ts";
import { safeStat } from "../apply/move.ts";
import { ForkError } from "../fork/problems.ts";
import { bringOver, type PathsToBring, partialOf, requireSource } from "./bring.ts";

type Kind = "link" | "copy";

const COMMENTS: Readonly<Record<Kind, string>> = {
  link: "# Backtrail keeps a fork's link out of `git status`; `backtrail fork drop` removes these two lines.",
  copy: "# Backtrail keeps a fork's copy out of `git status`; `backtrail fork drop` removes these two lines.",
};

/** Validates paths up front: each must exist and be ignored, because the fork already contains everything else. */
export async function requireIgnoredPaths(workspace: Workspace, { link, copy }: PathsToBring): Promise<void> {
  for (const path of [...link, ...copy]) {
    requireSource(workspace.root, path);
    if (await isIgnored(workspace, path)) continue;
    throw new ForkError("usage", { kind: "path-not-ignored", path });
  }
}

/** Repeatable after a kill. */
export async function bringToFork(workspace: Workspace, fork: Workspace, record: ForkRecord): Promise<void> {
  const { bring, from } = record;
  if (!bring) return;
  for (const { kind, path } of broughtBy(record)) {
    const [file, edit, keeping] = excludeOf(workspace, record, kind, path);
    // The copy is not there yet, and the slash tells git that it will be a directory.
    const isDirectory = kind === "copy" && safeStat(join(from.root, path))?.isDirectory() === true;
    const isHidden = await isIgnored(fork, isDirectory ? `${path}/` : path);
    // Also needed if only our own line for another fork hides it: this fork must hold that line too.
    if (!isHidden || inspectEdit(file, edit) === "installed") await installEdit(file, edit, keeping);
  }
  bringOver(from.root, fork.root, bring);
}

/** Complete and partial copies in an unfinished fork. */
export function copiesIn({ bring }: ForkRecord): string[] {
  return (bring?.copy ?? []).flatMap((path) => [path, partialOf(path)]);
}

/** Call after the fork's directory is deleted. */
export async function releaseBrought(workspace: Workspace, record: ForkRecord): Promise<void> {
  for (const { kind, path } of broughtBy(record)) await uninstallEdit(...excludeOf(workspace, record, kind, path));
}

function broughtBy({ bring }: ForkRecord): { kind: Kind; path: string }[] {
  const { link = [], copy = [] } = bring ?? {};
  return [
    ...link.map((path) => ({ kind: "link" as const, path })),
    ...copy.map((path) => ({ kind: "copy" as const, path })),
  ];
}

function excludeOf(workspace: Workspace, record: ForkRecord, kind: Kind, path: string): Parameters<typeof installEdit> {
  const keeping: EditOwner = {
    records: join(workspace.storeDir, "edits"),
    owner: `fork-${kind}/${path}`,
    // The line stays while another fork with the same path exists.
    holder: record.directory ?? workspace.root,
  };
  return [join(workspace.commonDir, "info", "exclude"), excludeEdit(COMMENTS[kind], path), keeping];
}

async function isIgnored(workspace: Workspace, path: string): Promise<boolean> {
  return (await gitIn(workspace).try(["check-ignore", "--quiet", "--", path])).code === 0;
}
