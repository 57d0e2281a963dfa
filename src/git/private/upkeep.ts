/**
 * Packs and prunes the private object store: keeps the store's own objects that its refs reach. git's garbage
 * collection would drop objects that the user's repository also has, although that may prune them any day.
 */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf, ProblemError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { namesIn, removeFile } from "../../base/fs/files.ts";
import { gitIn } from "../git.ts";
import { isLooseMany } from "../objects/pack-loose.ts";
import { type GitObject, ObjectReader } from "../objects/reader.ts";
import { parseTree, TREE_MODE } from "../objects/trees.ts";
import type { GitProblem } from "../problems.ts";
import { gitText } from "../run.ts";
import { hasManyWideTrees } from "../wide/count.ts";
import type { Workspace } from "../workspace.ts";
import { changePruneMark, privateObjects, privateRepository } from "./store.ts";

const MANY_PACKS = 20;
const TIMEOUT_MS = 600_000;
/** Upper bound for the resolution of file times. */
const TICK_MS = 25;
/** Far longer than any save takes: a younger object without a ref may belong to a save in progress. */
const DAY_MS = 24 * 60 * 60 * 1000;

/** The objects in the store itself, without borrowed ones. */
interface Contents {
  /** Id → file. */
  loose: Map<string, string>;
  /** Path without extension → ids. */
  packs: Map<string, string[]>;
}

/** Deletes unreferenced objects older than a day. */
export async function tidyPrivateObjects(workspace: Workspace): Promise<void> {
  if (privateObjects(workspace) !== undefined) await collect(workspace, Date.now() - DAY_MS);
}

/** Called by the worker: packs and prunes if there are enough loose objects or packs. */
export async function packPrivateObjects(workspace: Workspace): Promise<void> {
  const objects = privateObjects(workspace);
  if (objects === undefined) return;
  const isWorthIt = isLooseMany(objects) || packsIn(objects).length >= MANY_PACKS || hasManyWideTrees(workspace);
  if (isWorthIt) await collect(workspace, Date.now() - DAY_MS);
}

/**
 * Deletes all unreferenced objects at once. A snapshot in progress sees the changed mark and writes its objects again;
 * objects written after the mark stay.
 */
export async function prunePrivateObjects(workspace: Workspace): Promise<void> {
  if (privateObjects(workspace) === undefined) return;
  try {
    // File times advance in ticks: objects to delete must not share the mark's tick.
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    await collect(workspace, changePruneMark(workspace));
  } catch (error) {
    throw new ProblemError<GitProblem>("failed", { kind: "private-files-not-pruned", reason: messageOf(error) });
  }
}

/** Packs referenced objects and deletes unreferenced ones written before that time. */
async function collect(workspace: Workspace, before: number): Promise<void> {
  const objects = join(privateRepository(workspace).commonDir, "objects");
  const contents = await contentsOf(workspace, objects);
  const held = await heldObjects(workspace, contents);
  const pack = held.size > 0 ? await packed(workspace, objects, held) : undefined;
  faultPoint("private:packed");
  // Touch only objects listed above: newer ones may belong to a save that is about to reference them.
  for (const [id, file] of contents.loose) if (held.has(id) || isOlder(file, before)) removeFile(file);
  for (const [path, ids] of contents.packs) {
    if (path === pack || (!ids.every((id) => held.has(id)) && !isOlder(`${path}.pack`, before))) continue;
    for (const ending of ["idx", "pack", "rev", "mtimes"]) removeFile(`${path}.${ending}`);
  }
}

async function contentsOf(workspace: Workspace, objects: string): Promise<Contents> {
  const loose = new Map<string, string>();
  for (const folder of namesIn(objects).filter((name) => /^[0-9a-f]{2}$/.test(name)))
    for (const rest of namesIn(join(objects, folder)))
      if (/^[0-9a-f]{38,62}$/.test(rest)) loose.set(folder + rest, join(objects, folder, rest));
  const packs = new Map<string, string[]>();
  for (const path of packsIn(objects)) packs.set(path, await idsInPack(workspace, path));
  return { loose, packs };
}

function packsIn(objects: string): string[] {
  const directory = join(objects, "pack");
  return namesIn(directory).flatMap((name) => (name.endsWith(".idx") ? [join(directory, name.slice(0, -4))] : []));
}

async function idsInPack(workspace: Workspace, path: string): Promise<string[]> {
  const input = readFileSync(`${path}.idx`);
  const listed = await gitText(["show-index", `--object-format=${workspace.hash}`], { cwd: workspace.root, input });
  return listed.split("\n").flatMap((line) => /^\d+ ([0-9a-f]+)/.exec(line)?.[1] ?? []);
}

/**
 * The store's own objects that are reachable from its refs. Does not follow trees without private files, which only the
 * user's repository has.
 */
async function heldObjects(workspace: Workspace, { loose, packs }: Contents): Promise<Set<string>> {
  const own = new Set([...loose.keys(), ...[...packs.values()].flat()]);
  const repository = privateRepository(workspace);
  const refs = await gitIn(repository).text(["for-each-ref", "--format=%(objectname)"]);
  const held = new Set<string>();
  const reader = new ObjectReader(repository);
  try {
    const waiting = refs.split("\n");
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (held.has(id) || !own.has(id)) continue;
      held.add(id);
      const { files, others } = namedBy(await reader.read(id), workspace.hash);
      // Blobs reference nothing, so skip reading them; they may be large.
      for (const file of files) if (own.has(file)) held.add(file);
      waiting.push(...others);
    }
  } finally {
    reader.close();
  }
  return held;
}

/** The objects that a commit or a tree references. */
function namedBy(object: GitObject | undefined, hash: Workspace["hash"]): { files: string[]; others: string[] } {
  if (object?.type === "tree") {
    const entries = [...parseTree(object.data, hash).values()];
    const idsOf = (isTree: boolean) => entries.flatMap(({ mode, id }) => ((mode === TREE_MODE) === isTree ? [id] : []));
    return { files: idsOf(false), others: idsOf(true) };
  }
  if (object?.type !== "commit") return { files: [], others: [] };
  const text = object.data.toString("latin1");
  const header = text.slice(0, text.indexOf("\n\n"));
  return { files: [], others: [...header.matchAll(/^(?:tree|parent) ([0-9a-f]+)$/gm)].map(([, id = ""]) => id) };
}

/** Writes all referenced objects to one pack; returns its path without extension. */
async function packed(workspace: Workspace, objects: string, held: ReadonlySet<string>): Promise<string> {
  const base = join(objects, "pack", "pack");
  const input = `${[...held].join("\n")}\n`;
  const name = await gitIn(privateRepository(workspace)).run(["pack-objects", "--quiet", base], {
    input,
    timeoutMs: TIMEOUT_MS,
  });
  return `${base}-${name.toString("latin1").trim()}`;
}

/** Whether the file was last written or freshened before that time. */
function isOlder(file: string, time: number): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat !== undefined && stat.mtimeMs < time;
}
