/**
 * Follows the file of an agent without hooks and turns appended lines into events. Such an agent does not report the
 * end of a turn: a turn ends when the next one begins, or when the agent has worked and then been quiet for a while.
 */
import { closeSync, constants, type FSWatcher, fstatSync, openSync, readSync, watch as watchDirectory } from "node:fs";
import { basename, dirname } from "node:path";
import type { Agent, FileWatcher, WatchReader, WatchSign } from "../agents/contract/agent.ts";
import { now } from "../base/clock.ts";
import { codeOf } from "../base/errors.ts";
import { logError } from "../base/log.ts";
import type { Config } from "../config/load.ts";
import { isEnabled, type Workspace } from "../git/workspace.ts";
import type { Event, EventType } from "../model/event.ts";
import { dispatch } from "./dispatcher.ts";
import { startWorker } from "./start-worker.ts";

const POLL_MS = 500;
/** Longer than an agent's pauses within a turn: before it applies an answer, and after a failed test. */
const QUIET_MS = 4_000;
/** While the agent has more to do in the turn: its user may be thinking about a question. */
const PENDING_MS = 15 * 60_000;

export interface WatchParts {
  workspace: Workspace;
  agent: Agent;
  watcher: FileWatcher;
  /** An absolute path. */
  file: string;
  config: Config;
  /** Called once the watcher is ready: everything written after this call is recorded. */
  onBegin(): void;
  /** Called after each event has been handled. */
  onEvent(type: EventType, prompt: string | null): void;
  quietMs?: number;
}

/** Runs until the signal aborts, then closes the open turn. */
export async function watch(parts: WatchParts, signal: AbortSignal): Promise<void> {
  const follower = new Follower(parts);
  parts.onBegin();
  let wake: (() => void) | undefined;
  const woken = () => wake?.();
  const watching = watchQuietly(parts.file, woken);
  signal.addEventListener("abort", woken);
  try {
    while (!signal.aborted) {
      await follower.look();
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, POLL_MS);
        if (signal.aborted) resolve();
      });
    }
    await follower.look();
    await follower.close();
  } finally {
    watching?.close();
    signal.removeEventListener("abort", woken);
  }
}

class Follower {
  readonly #parts: WatchParts;
  #reader: WatchReader;
  #offset = 0;
  #session: string | null = null;
  #inTurn = false;
  /** True after the session's first prompt; the agent's output before it does not count as work. */
  #begun = false;
  /** When the agent last worked; null if a step has already recorded that work. */
  #workedAt: number | null = null;
  #pending = false;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#reader = parts.watcher.reader();
    this.#begin();
  }

  async look(): Promise<void> {
    const bytes = readLinesFrom(this.#parts.file, this.#offset);
    if (bytes === "shorter") {
      this.#begin();
      return;
    }
    if (bytes.length > 0) {
      this.#offset += bytes.length;
      for (const sign of this.#reader.read(bytes)) await this.#take(sign);
    }
    const quiet = this.#pending ? PENDING_MS : (this.#parts.quietMs ?? QUIET_MS);
    if (this.#workedAt !== null && performance.now() - this.#workedAt >= quiet) await this.#endTurn();
  }

  async close(): Promise<void> {
    if (this.#inTurn || this.#workedAt !== null) await this.#endTurn();
  }

  /** Skips existing content, which belongs to earlier turns, and takes only the current session's id from it. */
  #begin(): void {
    this.#reader = this.#parts.watcher.reader();
    const bytes = readLinesFrom(this.#parts.file, 0);
    if (bytes === "shorter") return;
    this.#offset = bytes.length;
    for (const sign of this.#reader.read(bytes)) if (sign.sign === "session") this.#session = sign.id;
  }

  async #take(sign: WatchSign): Promise<void> {
    switch (sign.sign) {
      case "session":
        await this.close();
        if (this.#session !== null) await this.#tell("SessionEnd", null);
        this.#session = sign.id;
        this.#begun = false;
        await this.#tell("SessionStart", null);
        return;
      case "prompt":
        await this.close();
        this.#inTurn = true;
        this.#begun = true;
        await this.#tell("TurnStart", sign.text);
        return;
      case "work":
        if (!this.#begun) return;
        this.#workedAt = performance.now();
        this.#pending = sign.pending === true;
    }
  }

  async #endTurn(): Promise<void> {
    this.#inTurn = false;
    this.#workedAt = null;
    this.#pending = false;
    await this.#tell("TurnEnd", null);
  }

  async #tell(type: EventType, prompt: string | null): Promise<void> {
    const { workspace, agent, config, file, onEvent } = this.#parts;
    if (!isEnabled(workspace)) return;
    const sessionId = this.#session ?? "unknown";
    const event: Event = {
      type,
      sessionId,
      previousSessionId: null,
      transcriptPath: file,
      prompt,
      timestamp: now().toISOString(),
      model: null,
      tool: null,
      subagent: null,
      response: null,
      metadata: {},
    };
    const context = {
      agent: agent.profile.id,
      cwd: workspace.root,
      projectRoot: workspace.root,
      transcriptPath: file,
      sessionId,
      envFile: null,
      // The watcher's own pid: if this process dies, the turn is orphaned.
      pid: process.pid,
    };
    try {
      const { background, again } = await dispatch({ workspace, agent, event, context, config });
      if (background) startWorker(workspace, again);
      onEvent(type, prompt);
    } catch (error) {
      logError(`watch ${agent.profile.id}`, error);
    }
  }
}

/** The complete lines from `offset` on; "shorter" if the file now ends before `offset`. */
function readLinesFrom(path: string, offset: number): Buffer | "shorter" {
  let fd: number;
  try {
    // Opening a pipe without O_NONBLOCK could block forever.
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return offset === 0 ? Buffer.alloc(0) : "shorter";
    throw error;
  }
  try {
    const stat = fstatSync(fd);
    const size = stat.isFile() ? stat.size : 0;
    if (size < offset) return "shorter";
    const bytes = Buffer.alloc(size - offset);
    const read = readSync(fd, bytes, 0, bytes.length, offset);
    return bytes.subarray(0, bytes.lastIndexOf(10, read - 1) + 1);
  } finally {
    closeSync(fd);
  }
}

/** Only reacts faster than polling, which remains necessary: some file systems report no changes. */
function watchQuietly(file: string, changed: () => void): FSWatcher | undefined {
  try {
    const watching = watchDirectory(dirname(file), (_event, name) => {
      if (name === basename(file)) changed();
    });
    watching.on("error", () => watching.close());
    return watching;
  } catch {
    return undefined;
  }
}
