/**
 * The search of this machine's user: opens the index, catches up for a bounded time, and runs queries. An index that
 * turns out to be damaged is made again.
 */

import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { logError } from "../base/log.ts";
import { ownProgram, spawn } from "../base/runtime.ts";
import type { Workspace } from "../git/workspace.ts";
import { indexPath, isDamage, openIndex, removeIndex } from "./index/open.ts";
import { SearchIndex } from "./index/store.ts";
import type { Query } from "./query/parse.ts";
import { type FoundHits, type RunOptions, runQuery } from "./results/search.ts";
import { lastFullLook, type UpdateProgress, updateIndex } from "./update/update.ts";

export interface IndexStatus {
  /** The number of transcripts and repositories that are not indexed yet. */
  pending: number;
  /** Another process is indexing. */
  busy: boolean;
  /** The index can't be written, as on a full disk, so only already indexed texts are found. */
  readOnly: boolean;
  /** The index was damaged and is being made again. */
  remade: boolean;
}

export interface CatchUpOptions {
  workspace: Workspace | undefined;
  /** Milliseconds; without it a short time, and longer as long as the index has never been complete. */
  patience?: number | undefined;
  onProgress?(progress: UpdateProgress): void;
  /** Ends catching up early. */
  signal?: AbortSignal;
}

const PATIENCE_MS = 200;
/** Without an index there is nothing to find, so the first search waits longer. */
const FIRST_PATIENCE_MS = 5_000;
const RETRY_MS = 10;
const MAX_WAIT_MS = 3_000;
/** How often the background looks at every file. */
const FULL_LOOK_MS = 600_000;

export class Search {
  #index = new SearchIndex(openIndex());
  /** Tells the file that is open from one that replaced it. */
  #file = fileNumber();
  #remade = false;

  /** True until everything was indexed once. */
  get isFirst(): boolean {
    return lastFullLook(this.#index) === 0;
  }

  async catchUp(options: CatchUpOptions): Promise<IndexStatus> {
    const { workspace, onProgress, signal } = options;
    const isFirst = this.#guard(() => this.isFirst);
    const patience = options.patience ?? (isFirst ? FIRST_PATIENCE_MS : PATIENCE_MS);
    const deadline = performance.now() + patience;
    const keepsGoing = (progress: UpdateProgress) => {
      onProgress?.(progress);
      return performance.now() < deadline && !signal?.aborted;
    };
    const look = isFirst ? "full" : "quick";
    // Another process may be writing, such as `forget`.
    const wait = Math.round(Math.min(patience, MAX_WAIT_MS));
    this.#guard(() => this.#index.database.execute(`pragma busy_timeout = ${wait}`));
    const update = () => this.#guardAsync(() => updateIndex(this.#index, { workspace, look, keepsGoing }));
    let { pending, busy, unwritable } = await update();
    // What another process indexes at this moment may be the turn that is searched for.
    while (busy && performance.now() < deadline && !signal?.aborted) {
      await sleep(RETRY_MS);
      ({ pending, busy, unwritable } = await update());
    }
    const isLeft = pending > 0 && !busy && !unwritable;
    if (isLeft || Date.now() - lastFullLook(this.#index) > FULL_LOOK_MS) indexInBackground();
    return { pending, busy, readOnly: unwritable, remade: this.#remade };
  }

  /** Indexes everything. With `again`, from the beginning. */
  async update(options: Omit<CatchUpOptions, "patience"> & { again?: boolean }): Promise<IndexStatus> {
    if (options.again) this.#remake();
    const { workspace, onProgress, signal } = options;
    const keepsGoing = (progress: UpdateProgress) => {
      onProgress?.(progress);
      return !signal?.aborted;
    };
    const look = "full";
    const { pending, busy, unwritable } = await this.#guardAsync(() =>
      updateIndex(this.#index, { workspace, look, keepsGoing }),
    );
    return { pending, busy, readOnly: unwritable, remade: this.#remade };
  }

  async run(query: Query, options: RunOptions): Promise<FoundHits> {
    return this.#guardAsync(() => runQuery(this.#index, query, options));
  }

  /** The roots of all repositories in which something was recorded, as far as the index knows them. */
  roots(): string[] {
    const rows = this.#guard(() => this.#index.database.statement("select root from repositories").all());
    return rows.map((row) => String((row as { root: unknown }).root));
  }

  get index(): SearchIndex {
    return this.#index;
  }

  close(): void {
    this.#index.close();
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#recover(error);
      return work();
    }
  }

  async #guardAsync<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#recover(error);
      return work();
    }
  }

  /** Throws what can't be put right. */
  #recover(error: unknown): void {
    if (isDamage(error)) {
      logError("search index", error);
      this.#remake();
      this.#remade = true;
    } else if (this.#file !== fileNumber()) {
      // Another process has made the index again meanwhile.
      this.#close();
      this.#open();
    } else throw error;
  }

  #remake(): void {
    this.#close();
    removeIndex();
    this.#open();
  }

  #close(): void {
    try {
      this.#index.close();
    } catch {
      // A damaged database may refuse even that.
    }
  }

  #open(): void {
    this.#index = new SearchIndex(openIndex());
    this.#file = fileNumber();
  }
}

function fileNumber(): number {
  return statSync(indexPath(), { throwIfNoEntry: false })?.ino ?? 0;
}

/** With `again`, an index of a later version is no obstacle: it is deleted. */
export async function openSearch(again = false): Promise<Search> {
  if (again) removeIndex();
  return new Search();
}

/** Continues indexing in a separate process, which `main.ts` starts with `indexEverything`. */
function indexInBackground(): void {
  if (process.env["BACKTRAIL_WORKER"] === "off" || ownProgram === null) return;
  try {
    const silent = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;
    spawn(ownProgram, ["worker", "--index"], { ...silent, detached: true }).unref();
  } catch (error) {
    logError("search", error);
  }
}
