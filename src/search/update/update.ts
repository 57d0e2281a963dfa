/**
 * Brings the index up to date: finds what changed, and indexes it, newest first. Can be stopped and killed at any point;
 * the next update continues there. Only one process updates at a time.
 */

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../agents/builtin/opencode/database.ts";
import { getAgent } from "../../agents/registry/registry.ts";
import { messageOf } from "../../base/errors.ts";
import { tryAcquire } from "../../base/fs/lock.ts";
import { logError } from "../../base/log.ts";
import { forgottenSessions } from "../../checkpoints/forget/tombstones.ts";
import { loadConfig } from "../../config/load.ts";
import { findWorkspace, type Workspace } from "../../git/workspace.ts";
import { sessionRefKey } from "../../model/session.ts";
import { indexFile } from "../../steps/index-file.ts";
import { removeForgotten } from "../forget.ts";
import { indexLock, isDamage } from "../index/open.ts";
import type { SearchIndex } from "../index/store.ts";
import { nativeTranscripts } from "../sources/native.ts";
import type { FoundTranscript } from "../sources/recorded.ts";
import type { IndexRedaction } from "../sources/redaction.ts";
import type { StoredConversation } from "../sources/stored.ts";
import type { Progress } from "../sources/transcript.ts";

export interface UpdateOptions {
  /** The repository to look at first. */
  workspace?: Workspace | undefined;
  /** `quick` relies on directories' times; `full` looks at every file. */
  look: "quick" | "full";
  /** Called between pieces of work. False stops. */
  keepsGoing?(progress: UpdateProgress): boolean;
}

export interface UpdateProgress {
  bytes: number;
  /** The number of transcripts and repositories that are done, and of all that changed. */
  done: number;
  all: number;
}

export interface UpdateResult {
  /** The number of transcripts and repositories that are not indexed yet. */
  pending: number;
  /** Another process is indexing. */
  busy: boolean;
  /** The index could not be written: the disk is full or read-only. */
  unwritable: boolean;
}

/** The state key of the time of the last complete full look. */
const LAST_FULL = "last full look";

export async function updateIndex(index: SearchIndex, options: UpdateOptions): Promise<UpdateResult> {
  const result = { pending: 0, busy: false, unwritable: index.readOnly };
  if (index.readOnly) return result;
  const update = new Update(index, options);
  try {
    const lock = tryAcquire(indexLock());
    if (!lock) return { ...result, busy: true };
    try {
      return { ...result, pending: await update.run() };
    } finally {
      lock.release();
    }
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    logError("search", error);
    return { ...result, pending: update.left, unwritable: true };
  }
}

/** When every file was last looked at, in milliseconds since 1970; 0 if never. */
export function lastFullLook(index: SearchIndex): number {
  return Number(index.state(LAST_FULL) ?? 0);
}

interface Task {
  time: number;
  run(progress: Progress): Promise<boolean>;
}

class Update {
  readonly #index: SearchIndex;
  readonly #options: UpdateOptions;
  readonly #redactions = new Map<string, Promise<IndexRedaction>>();
  readonly #forgotten = new Map<string, ReturnType<typeof forgottenSessions>>();
  readonly #workspaces = new Map<string, Workspace>();
  readonly #copies = new Map<string, ReadonlyMap<string, number>>();
  /** Of the index, to save once everything is indexed. */
  readonly #states = new Map<string, string>();

  /** The number of transcripts and repositories that are not indexed yet; 1 if they were not counted. */
  left = 1;

  constructor(index: SearchIndex, options: UpdateOptions) {
    this.#index = index;
    this.#options = options;
  }

  async run(): Promise<number> {
    const { look, keepsGoing = () => true } = this.#options;
    const native = loadConfig(null).search.native
      ? await nativeTranscripts(this.#index, look)
      : { files: [], folders: new Map<string, number>() };
    const repositories = this.#changedRepositories(native.files);
    const stored = (await this.#stored(native.folders)).filter((source) => !this.#isForgotten(source));
    const recorded = await recordedIn(repositories);
    for (const { workspace } of repositories.values()) removeForgotten(this.#index, workspace);
    const found = [...recorded.flat(), ...native.files].filter((source) => !this.#isForgotten(source));
    const tasks = [...this.#tasks(found, repositories), ...this.#storedTasks(stored)];
    const isHere = (task: Task) => Number(task.time === Number.POSITIVE_INFINITY);
    tasks.sort((a, b) => isHere(b) - isHere(a) || b.time - a.time);
    const progress = { bytes: 0, done: 0, all: tasks.length };
    this.left = tasks.length;
    const isWanted = (bytes: number) => {
      progress.bytes += bytes;
      return keepsGoing(progress);
    };
    this.#index.beginBatch();
    try {
      const isDone = await this.#runAll(tasks, progress, isWanted);
      this.#index.endBatch();
      if (!isDone) return tasks.length - progress.done;
    } finally {
      this.#index.endBatch();
    }
    this.#finish(native.folders, repositories);
    return 0;
  }

  /** False if there is more to do, or if something failed. */
  async #runAll(
    tasks: readonly Task[],
    progress: UpdateProgress,
    isWanted: (bytes: number) => boolean,
  ): Promise<boolean> {
    let isWhole = true;
    for (const task of tasks) {
      if (!isWanted(0)) return false;
      try {
        if (!(await task.run({ keepsGoing: isWanted }))) return false;
      } catch (error) {
        if (isDamage(error) || isUnwritable(error)) throw error;
        logError("search", error);
        isWhole = false;
        continue;
      }
      progress.done++;
    }
    return isWhole;
  }

  /** Everything that was found is indexed, so the next quick look need not find it again. */
  #finish(folders: ReadonlyMap<string, number>, repositories: ReadonlyMap<string, Repository>): void {
    const { segments } = this.#index;
    const isSame = this.#options.look === "quick" && folders.size === 0 && repositories.size === 0;
    if (isSame && segments.withRemoved(true).length === 0) return;
    this.#index.transaction(() => {
      const { database } = this.#index;
      const folder = database.statement("insert or replace into folders values (?, ?)");
      for (const [path, modified] of folders) folder.run(path, modified);
      const repository = database.statement("insert or replace into repositories values (?, ?, ?)");
      for (const { workspace, modified } of repositories.values())
        repository.run(workspace.root, workspace.storeDir, modified);
      for (const [key, state] of this.#states) this.#index.setState(key, state);
      if (this.#options.look === "full") this.#index.setState(LAST_FULL, String(Date.now()));
      for (const segment of this.#index.segments.withRemoved(true)) this.#index.segments.remake(segment);
    });
  }

  /** The repositories in which something was recorded since the last time, by root. */
  #changedRepositories(files: readonly FoundTranscript[]): Map<string, Repository> {
    const rows = this.#index.database.statement("select root, modified from repositories").all();
    const known = new Map((rows as { root: string; modified: number }[]).map((row) => [row.root, row.modified]));
    const roots = new Set(known.keys());
    for (const { repository, store } of files) if (repository !== null && store !== null) roots.add(repository);
    const { workspace: here } = this.#options;
    if (here) roots.add(here.root);
    const changed = new Map<string, Repository>();
    for (const root of roots) {
      const workspace = here?.root === root ? here : findWorkspace(root);
      if (!workspace || workspace.root !== root) continue;
      this.#workspaces.set(workspace.storeDir, workspace);
      const modified = recordedAt(workspace);
      if (modified > 0 && modified !== known.get(root)) changed.set(root, { workspace, modified });
    }
    return changed;
  }

  #tasks(transcripts: readonly FoundTranscript[], repositories: ReadonlyMap<string, Repository>): Task[] {
    const here = this.#options.workspace?.root;
    const tasks: Task[] = [];
    const seen = new Set<string>();
    for (const one of transcripts) {
      const name = `${sessionRefKey(one)}\0${one.part}`;
      if (seen.has(name)) continue;
      seen.add(name);
      const time = one.repository === here ? Number.POSITIVE_INFINITY : one.time;
      tasks.push({ time, run: (progress) => this.#transcript(one, progress) });
    }
    for (const { workspace, modified } of repositories.values()) {
      const time = workspace.root === here ? Number.POSITIVE_INFINITY : modified;
      tasks.push({
        time,
        run: async (progress) => {
          const { indexChanges } = await import("../sources/changes.ts");
          return indexChanges(this.#index, workspace, await this.#redaction(workspace.storeDir), progress);
        },
      });
    }
    return tasks;
  }

  /** Logs of runs, and with a look at everything also fetched checkpoints. */
  async #stored(seen: Map<string, number>): Promise<StoredConversation[]> {
    const { workspace: here, look } = this.#options;
    const { database } = this.#index;
    const known = look === "full" ? "select repository as root from conversations" : "select root from repositories";
    const rows = database.statement(`${known} group by 1`).all() as { root: string | null }[];
    const roots = new Set([...(here ? [here.root] : []), ...rows.flatMap(({ root }) => root ?? [])]);
    const found: StoredConversation[] = [];
    if (loadConfig(null).search.native && existsSync(databasePath())) {
      const { openCodeSessions } = await import("../sources/opencode.ts");
      found.push(...openCodeSessions(this.#index, seen));
    }
    const places = [...roots].filter((root) => existsSync(join(root, look === "full" ? "." : ".aiwr")));
    if (places.length === 0) return found;
    const { fetchedCheckpoints, loggedRuns } = await import("../sources/stored.ts");
    for (const root of places) {
      const workspace = here?.root === root ? here : findWorkspace(root);
      const own = workspace?.root === root ? workspace : undefined;
      if (own) this.#workspaces.set(own.storeDir, own);
      found.push(...(await loggedRuns(this.#index, root, own?.storeDir ?? null, seen)));
      if (look === "full" && own?.kind === "repository")
        found.push(...(await fetchedCheckpoints(this.#index, own, this.#states)));
    }
    return found;
  }

  /** They come last: most are indexed from a better place by then. */
  #storedTasks(stored: readonly StoredConversation[]): Task[] {
    return stored.map((one) => ({
      time: Number.NEGATIVE_INFINITY,
      run: async () => {
        const { indexStored } = await import("../sources/stored.ts");
        await indexStored(this.#index, one, await this.#redaction(one.store));
        return true;
      },
    }));
  }

  async #transcript(source: FoundTranscript, progress: Progress): Promise<boolean> {
    const analyzer = (await getAgent(source.agent, storeOf(source)))?.analyzer;
    if (!analyzer) return true;
    const known = this.#index.find(source);
    const bytes = await source.open();
    if (!bytes) return true;
    try {
      // An empty transcript must not replace what the steps have.
      if (bytes.size === 0) return true;
      if (known && known.size === bytes.size && known.modified === Math.round(bytes.modified)) return true;
      // The agent's file was longer; it may be gone by now.
      if (bytes.isCopy && known && known.offset >= bytes.size) return true;
      const { time: _, open: __, ...place } = source;
      const named = { ...place, copiedAt: await this.#copiedAt(source) };
      const redaction = await this.#redaction(source.store);
      const { indexTranscript } = await import("../sources/transcript.ts");
      return indexTranscript(this.#index, named, bytes, analyzer, redaction, progress);
    } finally {
      bytes.close();
    }
  }

  async #copiedAt(source: FoundTranscript): Promise<number | undefined> {
    const { copiesIn } = await import("../sources/copies.ts");
    for (const workspace of this.#mayHaveCopied(source)) {
      const copies = this.#copies.get(workspace.root) ?? copiesIn(workspace);
      this.#copies.set(workspace.root, copies);
      const time = copies.get(sessionRefKey(source));
      if (time !== undefined) return time;
    }
    return undefined;
  }

  /** Some agents' transcripts do not name their directory: any repository may have copied such a conversation. */
  #mayHaveCopied({ store, repository }: FoundTranscript): Iterable<Workspace> {
    if (store === null) return repository === null ? this.#workspaces.values() : [];
    const workspace = findWorkspace(repository ?? "");
    return workspace?.storeDir === store ? [workspace] : [];
  }

  /** The agent's own file of a forgotten session may still be there. */
  #isForgotten({ store, session }: Pick<FoundTranscript, "store" | "session">): boolean {
    const workspace = store === null ? undefined : this.#workspaces.get(store);
    if (!workspace) return false;
    const known = this.#forgotten.get(workspace.storeDir);
    const isForgotten = known === undefined ? forgottenSessions(workspace) : known;
    this.#forgotten.set(workspace.storeDir, isForgotten);
    return isForgotten?.(session) ?? false;
  }

  #redaction(store: string | null): Promise<IndexRedaction> {
    const workspace = store === null ? undefined : this.#workspaces.get(store);
    const key = workspace?.root ?? "";
    const known = this.#redactions.get(key) ?? openRedaction(workspace);
    this.#redactions.set(key, known);
    return known;
  }
}

async function openRedaction(workspace: Workspace | undefined): Promise<IndexRedaction> {
  return (await import("../sources/redaction.ts")).openIndexRedaction(workspace);
}

/** When something was last recorded in the workspace; 0 if nothing was. */
function recordedAt(workspace: Workspace): number {
  const stat = statSync(indexFile(workspace), { throwIfNoEntry: false });
  return stat ? Math.round(stat.mtimeMs) : 0;
}

async function recordedIn(repositories: ReadonlyMap<string, Repository>): Promise<FoundTranscript[][]> {
  if (repositories.size === 0) return [];
  const { recordedTranscripts } = await import("../sources/recorded.ts");
  return Promise.all([...repositories.values()].map(({ workspace }) => recordedTranscripts(workspace)));
}

interface Repository {
  workspace: Workspace;
  modified: number;
}

function storeOf({ store }: FoundTranscript): { storeDir: string } | undefined {
  return store === null ? undefined : { storeDir: store };
}

function isUnwritable(error: unknown): boolean {
  const text = messageOf(error);
  return /disk is full|readonly|read-only|disk I\/O|ENOSPC|EDQUOT|EROFS/i.test(text);
}
