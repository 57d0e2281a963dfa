/**
 * A throwaway copy of the work tree that can be switched from one recorded state to the next. Rewrites only what
 * differs, and first repairs what a command changed, so that states do not affect each other.
 */
import { mkdirSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { faultPoint } from "../../base/fault-point.ts";
import { decodePath, onDisk } from "../../base/fs/path-bytes.ts";
import { isSafePath, parentsOf } from "../../base/fs/tree-paths.ts";
import { newStepId } from "../../base/ids.ts";
import { ObjectReader } from "../../git/objects/reader.ts";
import { compareTrees } from "../../git/objects/tree-diff.ts";
import { entryAt, GITLINK_MODE, TREE_MODE, TreeStore } from "../../git/objects/trees.ts";
import { ObjectWriter } from "../../git/objects/writer.ts";
import type { Workspace } from "../../git/workspace.ts";
import { markOf, safeStat } from "../../restore/apply/move.ts";
import { stage } from "../../restore/apply/stage.ts";
import { bringOver, type PathsToBring } from "../../restore/owned/bring.ts";
import { removeWhole } from "../../restore/owned/removal.ts";
import type { PlannedWrite } from "../../restore/types.ts";
import type { TrialState } from "../../steps/results/types.ts";
import { discard, makeTrialDirectory, newRecord, type TrialRecord, writeRecord } from "./record.ts";
import { makeRepository, pointRepository } from "./repository.ts";

interface Laid extends PlannedWrite {
  mark: string;
}

export class ThrowawayTree {
  readonly path: string;
  readonly #workspace: Workspace;
  readonly #record: TrialRecord;
  readonly #bring: PathsToBring;
  readonly #reader: ObjectReader;
  readonly #trees: TreeStore;
  #state: TrialState | null = null;
  readonly #laid = new Map<string, Laid>();

  private constructor(workspace: Workspace, bring: PathsToBring) {
    this.#workspace = workspace;
    this.#bring = bring;
    this.#record = newRecord(newStepId());
    this.path = join(this.#record.directory, basename(workspace.root) || "tree");
    this.#reader = new ObjectReader(workspace);
    this.#trees = new TreeStore(this.#reader, new ObjectWriter(workspace));
  }

  static async make(workspace: Workspace, bring: PathsToBring): Promise<ThrowawayTree> {
    const tree = new ThrowawayTree(workspace, bring);
    writeRecord(workspace, tree.#record);
    faultPoint("trial:recorded");
    try {
      makeTrialDirectory(tree.#record);
      mkdirSync(tree.path, { mode: 0o700 });
      await makeRepository(workspace, tree.path);
    } catch (error) {
      tree.remove();
      throw error;
    }
    faultPoint("trial:made");
    return tree;
  }

  async layOut(state: TrialState): Promise<void> {
    // Remove links into the user's work tree first: after this, no path below leads out of the directory.
    for (const path of this.#bring.link) this.#removeAt(path);
    const changes = await this.#differences(state);
    const disturbed = this.#putRight();
    for (const path of disturbed) {
      const laid = this.#laid.get(path);
      if (laid && !changes.has(path)) changes.set(path, laid);
    }
    const writes: PlannedWrite[] = [];
    for (const [path, write] of changes) {
      this.#removeAt(path);
      this.#laid.delete(path);
      if (write) writes.push(write);
    }
    faultPoint("trial:cleared");
    if (writes.length > 0)
      await stage(this.#workspace, { trees: this.#trees, reader: this.#reader }, state.work, writes, this.path);
    for (const write of writes) this.#laid.set(write.path, { ...write, mark: this.#markAt(write.path) });
    this.#state = state;
    // A recorded file takes precedence over one from the current work tree.
    bringOver(this.#workspace.root, this.path, this.#bring);
    await pointRepository(this.path, state);
    faultPoint("trial:laid");
  }

  /** Records the running command, so that a cleanup after a kill can end it first. */
  holds(child: TrialRecord["child"]): void {
    this.#record.child = child;
    writeRecord(this.#workspace, this.#record);
  }

  remove(): void {
    this.#reader.close();
    discard(this.#workspace, this.#record);
  }

  /** The changes from the last state to `state`; null means that the path is deleted. */
  async #differences(state: TrialState): Promise<Map<string, PlannedWrite | null>> {
    const changes = new Map<string, PlannedWrite | null>();
    const add = async (path: string) => {
      if (changes.has(path) || !isSafePath(path)) return;
      const entry = await entryAt(this.#trees, state.work, path);
      const raw = await entryAt(this.#trees, state.raw, path);
      const isFile = entry !== null && entry.mode !== TREE_MODE && entry.mode !== GITLINK_MODE;
      changes.set(path, isFile ? { path, entry, raw: raw?.id ?? null } : null);
    };
    for (const { path } of await compareTrees(this.#trees, this.#state?.work ?? null, state.work)) await add(path);
    for (const { path } of await compareTrees(this.#trees, this.#state?.raw ?? null, state.raw)) await add(path);
    return changes;
  }

  /** Deletes files that are not part of the state. Returns the paths that were changed or deleted. */
  #putRight(): string[] {
    const intact = new Set<string>();
    const kept = new Set([".git", ...this.#bring.copy]);
    const walk = (directory: string): boolean => {
      let used = false;
      for (const name of readdirSync(onDisk(this.path, directory || "."), { encoding: "buffer" })) {
        const path = directory === "" ? decodePath(name) : `${directory}/${decodePath(name)}`;
        if (kept.has(path)) {
          used = true;
          continue;
        }
        const stat = safeStat(onDisk(this.path, path));
        const laid = this.#laid.get(path);
        if (laid && stat && markWith(stat) === laid.mark) {
          intact.add(path);
          used = true;
        } else if (!laid && stat?.isDirectory() && walk(path)) used = true;
        else removeWhole(this.path, path);
      }
      return used;
    };
    walk("");
    return [...this.#laid.keys()].filter((path) => !intact.has(path));
  }

  /** Never follows a link: a command may have created one anywhere. */
  #removeAt(path: string): void {
    if (!parentsOf(path).every((parent) => safeStat(onDisk(this.path, parent))?.isDirectory())) return;
    removeWhole(this.path, path);
  }

  #markAt(path: string): string {
    const stat = safeStat(onDisk(this.path, path));
    return stat ? markWith(stat) : "";
  }
}

function markWith(stat: NonNullable<ReturnType<typeof safeStat>>): string {
  return `${markOf(stat)}.${stat.ctimeNs}.${stat.mode}`;
}
