/**
 * Writes a log line by line, each line in a single write, so that a kill loses nothing written earlier. The file stays
 * open, so it can be moved meanwhile: into its folder when a child appears, and to its session's name once the agent
 * reports it.
 */
import { closeSync, constants, existsSync, fstatSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { faultPoint } from "../../base/fault-point.ts";
import { removeFile, writeAll } from "../../base/fs/files.ts";
import { openGuarded } from "../../base/fs/guarded-files.ts";
import { logError } from "../../base/log.ts";
import { fileIn, findLog, flatten, guardRoot, type LogFile, moveLog, nameOf, walkLogs } from "./layout.ts";
import { SEPARATOR } from "./records.ts";

const NEWLINE = Buffer.from("\n");
const CHUNK = 1 << 20;
const APPEND = constants.O_RDWR | constants.O_APPEND;

export class RunLog {
  readonly #logs: string;
  #fd: number;
  /** A generated name until the agent reports its session. */
  #name: string;
  /** The day's directory, or the parent's folder. */
  readonly #directory: string;
  /** Why lines can no longer be written; the run continues without a log. */
  broken: unknown = null;

  private constructor(logs: string, directory: string, name: string, fd: number) {
    this.#logs = logs;
    this.#directory = directory;
    this.#name = name;
    this.#fd = fd;
  }

  get name(): string {
    return this.#name;
  }

  static create(logs: string, directory: string, name: string): RunLog {
    const fd = openGuarded(guardRoot(logs), fileIn(directory, name), APPEND | constants.O_CREAT | constants.O_EXCL);
    return new RunLog(logs, directory, name, fd);
  }

  /** Continues a session's log after a separator. */
  static continue(logs: string, log: LogFile): RunLog {
    const opened = new RunLog(logs, dirname(log.path), log.name, openMoving(logs, log));
    opened.#separate();
    return opened;
  }

  record(value: object): void {
    this.line(Buffer.from(JSON.stringify(value)));
  }

  line(bytes: Buffer): void {
    if (this.broken !== null) return;
    try {
      writeAll(this.#fd, Buffer.concat([bytes, NEWLINE]));
    } catch (error) {
      this.broken = error;
    }
  }

  /**
   * Renames the log to the session's id that the agent reported. If the rename fails, the log keeps its name. `fresh`
   * means that the agent uses the id we generated, so no other log can have it.
   */
  identify(id: string, fresh: boolean): void {
    const name = nameOf(id);
    if (name === this.#name) return;
    try {
      this.#rename(name, fresh);
    } catch (error) {
      logError("run log", error);
    }
  }

  #rename(name: string, fresh: boolean): void {
    const from = fileIn(this.#directory, this.#name);
    const known = fresh ? undefined : findExact(this.#logs, name);
    if (known === undefined && moveLog(from, fileIn(this.#directory, name))) {
      this.#name = name;
      return;
    }
    // A session that already has a log continues there, no matter who asked the agent to continue it.
    const target = known ?? findLog(this.#logs, name);
    if (!target) return;
    const before = this.#fd;
    this.#fd = openMoving(this.#logs, target);
    this.#name = name;
    this.#separate();
    const copied = copyAll(before, this.#fd);
    closeSync(before);
    faultPoint("run:copied");
    if (copied) removeFile(from);
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Ends a half-written line of a killed run, so that it does not merge with the next one. */
  #separate(): void {
    const { size } = fstatSync(this.#fd);
    if (size === 0) return;
    const last = Buffer.alloc(1);
    readSync(this.#fd, last, 0, 1, size - 1);
    if (last[0] !== NEWLINE[0]) this.line(Buffer.alloc(0));
    this.line(Buffer.from(SEPARATOR));
  }
}

/** Returns false if the copy is incomplete. */
function copyAll(from: number, to: number): boolean {
  const buffer = Buffer.alloc(CHUNK);
  for (let at = 0; ; ) {
    const size = readSync(from, buffer, 0, CHUNK, at);
    if (size === 0) return true;
    try {
      writeAll(to, buffer.subarray(0, size));
    } catch {
      return false;
    }
    at += size;
  }
}

function findExact(logs: string, name: string): LogFile | undefined {
  return flatten(walkLogs(logs)).find((log) => log.name === name);
}

/** A log may move into its folder between being found and being opened. */
function openMoving(logs: string, log: LogFile): number {
  for (let path: string | undefined = log.path; path !== undefined; ) {
    try {
      return openGuarded(guardRoot(logs), path, APPEND);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      const now: string | undefined = findExact(logs, log.name)?.path;
      path = now !== path || (now !== undefined && existsSync(now)) ? now : undefined;
    }
  }
  throw Object.assign(new Error(`${log.path} has gone.`), { code: "ENOENT" });
}
