/**
 * A throwaway copy of the work tree that can be turned into one recorded state after another. Only what differs is
 * written again; what a command changed or left there is put right first, so that no state decides about another.
 */
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault.ts";
import { newStepId } from "../../base/ids.ts";
import { decodePath, onDisk } from "../../base/path-bytes.ts";
import { shownPath } from "../../base/text.ts";
import { ObjectWriter } from "../../git/objects.ts";
import { ObjectReader } from "../../git/reader.ts";
import { compareTrees } from "../../git/tree-diff.ts";
import { GITLINK_MODE, TREE_MODE, TreeStore } from "../../git/trees.ts";
import type { Workspace } from "../../git/workspace.ts";
import type { PlannedWrite } from "../model.ts";
import { markOf, type Place, safeStat } from "../move.ts";
import { isSafePath, parentsOf } from "../plan.ts";
import { stage } from "../stage.ts";
import { entryAt } from "../state.ts";
import type { Experiment, TrialState } from "./model.ts";
import { discard, newRecord, type TrialRecord, writeRecord } from "./record.ts";
import { removeTree } from "./removal.ts";
import { makeRepository, pointRepository } from "./repository.ts";

interface Laid extends PlannedWrite {
  mark: string;
}

export class ThrowawayTree {
  readonly path: string;
  readonly #workspace: Workspace;
  readonly #record: TrialRecord;
  readonly #bring: Pick<Experiment, "link" | "copy">;
  readonly #reader: ObjectReader;
  readonly #trees: TreeStore;
  #state: TrialState | null = null;
  readonly #laid = new Map<string, Laid>();

  private constructor(workspace: Workspace, bring: Pick<Experiment, "link" | "copy">) {
    this.#workspace = workspace;
    this.#bring = bring;
    this.#record = newRecord(newStepId());
    this.path = join(this.#record.directory, basename(workspace.root) || "tree");
    this.#reader = new ObjectReader(workspace);
    this.#trees = new TreeStore(this.#reader, new ObjectWriter(workspace));
  }

  static async make(workspace: Workspace, bring: Pick<Experiment, "link" | "copy">): Promise<ThrowawayTree> {
    const tree = new ThrowawayTree(workspace, bring);
    writeRecord(workspace, tree.#record);
    faultPoint("trial:recorded");
    try {
      mkdirSync(tree.#record.directory, { mode: 0o700 });
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
    // Links into the user's work tree go first: from here on no path below leads out of this directory.
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
    this.#bringOver();
    await pointRepository(this.path, state);
    faultPoint("trial:laid");
  }

  /** What runs in it now: if this process is killed, whoever cleans up ends that first. */
  holds(child: TrialRecord["child"]): void {
    this.#record.child = child;
    writeRecord(this.#workspace, this.#record);
  }

  remove(): void {
    this.#reader.close();
    discard(this.#workspace, this.#record);
  }

  /** From what was laid out last to `state`; null where nothing is to be. */
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

  /** Removes what was not laid out, and tells what was and is not any more as it was. */
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
        else removeTree(onDisk(this.path, path));
      }
      return used;
    };
    walk("");
    return [...this.#laid.keys()].filter((path) => !intact.has(path));
  }

  #bringOver(): void {
    for (const [paths, put] of [
      [this.#bring.link, linkTo],
      [this.#bring.copy, copyOf],
    ] as const) {
      for (const path of paths) {
        const source = join(this.#workspace.root, path);
        const place = join(this.path, path);
        if (!safeStat(source)) {
          throw new UserError("usage", `${shownPath(path)} is not in this work tree.`, "Leave it out.");
        }
        // What is recorded counts, not what lies there now.
        if (safeStat(place)) continue;
        mkdirSync(dirname(place), { recursive: true });
        put(source, place);
      }
    }
  }

  /** Never through a link: a command may have put one anywhere. */
  #removeAt(path: string): void {
    if (!parentsOf(path).every((parent) => safeStat(onDisk(this.path, parent))?.isDirectory())) return;
    removeTree(onDisk(this.path, path));
  }

  #markAt(path: string): string {
    const stat = safeStat(onDisk(this.path, path));
    return stat ? markWith(stat) : "";
  }
}

function markWith(stat: NonNullable<ReturnType<typeof safeStat>>): string {
  return `${markOf(stat)}.${stat.ctimeNs}.${stat.mode}`;
}

function linkTo(source: string, place: Place): void {
  symlinkSync(source, place);
}

/** Where the file system can, blocks are shared until one of the two is written to. */
function copyOf(source: string, place: string): void {
  cpSync(source, place, { recursive: true, verbatimSymlinks: true, mode: 2 });
}
