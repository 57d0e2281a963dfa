/**
 * Follows the file of an agent without hooks and turns what is appended to it into events. A turn ends when the next one
 * begins, or when the agent has worked and then been quiet for a while: nobody says so.
 */
import { closeSync, constants, type FSWatcher, fstatSync, openSync, readSync, watch as watchDirectory } from "node:fs";
import { basename, dirname } from "node:path";
import type { Agent, FileWatcher, WatchReader, WatchSign } from "../agents/agent.ts";
import type { Event, EventType } from "../agents/event.ts";
import { now } from "../base/clock.ts";
import { codeOf } from "../base/errors.ts";
import { logError } from "../base/log.ts";
import type { Config } from "../config/load.ts";
import { isEnabled, type Workspace } from "../git/workspace.ts";
import { startWorker } from "./background.ts";
import { dispatch } from "./dispatcher.ts";

const POLL_MS = 500;
/** Between writing an answer and applying it, and between a test's failure and the next attempt. */
const QUIET_MS = 4_000;

export interface WatchParts {
  workspace: Workspace;
  agent: Agent;
  watcher: FileWatcher;
  /** The file, absolute. */
  file: string;
  config: Config;
  /** What is written from now on counts. */
  onBegin(): void;
  /** Told of every event after it was dealt with. */
  onEvent(type: EventType, prompt: string | null): void;
  quietMs?: number;
}

/** Until the signal is given; an open turn is closed then. */
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
  /** There has been a turn: before the first one, what the agent says is no work on anything. */
  #begun = false;
  /** When the agent last did something that no step holds yet. */
  #workedAt: number | null = null;

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
    const quiet = this.#parts.quietMs ?? QUIET_MS;
    if (this.#workedAt !== null && performance.now() - this.#workedAt >= quiet) await this.#endTurn();
  }

  async close(): Promise<void> {
    if (this.#inTurn || this.#workedAt !== null) await this.#endTurn();
  }

  /** What was there before belongs to turns that nobody saw; only which session goes on is of interest. */
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
        if (this.#begun) this.#workedAt = performance.now();
    }
  }

  async #endTurn(): Promise<void> {
    this.#inTurn = false;
    this.#workedAt = null;
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
      // When this process is gone, nobody will end the turn.
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

/** Whole lines from `offset` on; "shorter" where the file doesn't reach that far any more. */
function readLinesFrom(path: string, offset: number): Buffer | "shorter" {
  let fd: number;
  try {
    // A pipe in its place would be waited for without end.
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

/** Only to be quicker than the next look: some file systems tell nothing. */
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
