/**
 * A log while it is being written: line by line, each one whole in one write, so that a kill loses nothing that was
 * there before. The file stays open, so it may be moved meanwhile: into its folder when a child appears, to its
 * session's name when the agent tells it.
 */
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../base/errors.ts";
import { faultPoint } from "../base/fault.ts";
import { removeFile, writeAll } from "../base/files.ts";
import { logError } from "../base/log.ts";
import { fileIn, findLog, flatten, type LogFile, moveLog, nameOf, walkLogs } from "./layout.ts";
import { SEPARATOR } from "./records.ts";

const NEWLINE = Buffer.from("\n");
const CHUNK = 1 << 20;
const APPEND = constants.O_RDWR | constants.O_APPEND;

export class RunLog {
  readonly #logs: string;
  #fd: number;
  /** Of our own, until the agent has told its session's. */
  #name: string;
  /** The day's directory, or the parent's folder. */
  readonly #directory: string;
  /** Why lines can no longer be written; the run goes on. */
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
    const fd = openSync(fileIn(directory, name), APPEND | constants.O_CREAT | constants.O_EXCL, 0o600);
    return new RunLog(logs, directory, name, fd);
  }

  /** Goes on with a session's log, behind a separator. */
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
   * The agent has told the session's id. Where the file can't get its name, it keeps the one it has. `fresh`: it is the
   * id that we gave it, and no other log can have it.
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
    // A session that has a log already goes on there, whoever asked the agent to continue it.
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

  /** What a killed run left half written must not run into what follows. */
  #separate(): void {
    const { size } = fstatSync(this.#fd);
    if (size === 0) return;
    const last = Buffer.alloc(1);
    readSync(this.#fd, last, 0, 1, size - 1);
    if (last[0] !== NEWLINE[0]) this.line(Buffer.alloc(0));
    this.line(Buffer.from(SEPARATOR));
  }
}

/** False where not everything could be written. */
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

/** Between being found and being opened, a log may move into its folder. */
function openMoving(logs: string, log: LogFile): number {
  for (let path: string | undefined = log.path; path !== undefined; ) {
    try {
      return openSync(path, APPEND);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      const now: string | undefined = findExact(logs, log.name)?.path;
      path = now !== path || (now !== undefined && existsSync(now)) ? now : undefined;
    }
  }
  throw Object.assign(new Error(`${log.path} has gone.`), { code: "ENOENT" });
}
