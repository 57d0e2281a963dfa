/**
 * Opens the user's search index, creates it, and replaces it if it is damaged or of an earlier version. The index is a
 * cache in one file that only the user can read.
 */
import { chmodSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf, UserError } from "../../base/errors.ts";
import { makeDirectory, removeFile } from "../../base/fs/files.ts";
import { logError } from "../../base/log.ts";
import { stateDirectory } from "../../base/paths.ts";
import { sleepSync } from "../../base/runtime.ts";
import { SearchError } from "../problems.ts";
import { openDatabase } from "./database.ts";
import type { Database } from "./database-types.ts";
import { createTables, OLDEST_SQLITE, VERSION } from "./schema.ts";

const BUSY_MS = 3_000;
const PRIVATE = 0o600;
/** SQLite reports each of these if the file is not a whole database. */
const DAMAGED =
  /malformed|not a database|disk image|database corruption|no such table|no such column|vtable constructor/i;
const LOCKED = /database is locked|database table is locked|SQLITE_BUSY/i;
const RETRY_MS = 20;
/** Errors while another process deletes the files; SQLite says the same of a full or broken disk. */
const DELETED = /disk I\/O|ENOENT/i;
/** Tries and not time, because a busy machine gives few of them in a second. */
const DELETED_TRIES = 25;
const UNWRITABLE = /readonly|read-only|unable to open|disk is full|disk I\/O|EROFS|EACCES|ENOSPC/i;

export interface OpenIndex {
  database: Database;
  path: string;
  /** The file can't be written, so nothing new can be indexed. */
  readOnly: boolean;
}

export function indexPath(): string {
  return join(stateDirectory(), "search", "index.db");
}

/** Lock of the process that indexes; searches don't take it. */
export function indexLock(): string {
  return `${indexPath()}.lock`;
}

/** Waits a little while another process creates, deletes or recovers the index. */
export function openIndex(path = indexPath()): OpenIndex {
  const began = performance.now();
  for (let tries = 1; ; tries++) {
    const waited = performance.now() - began;
    const isLast = tries > DELETED_TRIES || waited > BUSY_MS;
    try {
      return openOnce(path, isLast);
    } catch (error) {
      const isDeleted = DELETED.test(messageOf(error)) && !isLast;
      if (!isDeleted && !LOCKED.test(messageOf(error))) throw error;
      if (waited > BUSY_MS) throw new SearchError("failed", { kind: "search-index-busy" });
      sleepSync(RETRY_MS);
    }
  }
}

/** Rethrows an error that may be temporary, unless this is the last try. */
function openOnce(path: string, isLast: boolean): OpenIndex {
  try {
    return { database: writable(path), path, readOnly: false };
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (isDamage(error)) {
      logError("search index", error);
      removeIndex(path);
      return { database: writable(path), path, readOnly: false };
    }
    if (LOCKED.test(messageOf(error)) || (!isLast && DELETED.test(messageOf(error)))) throw error;
    if (UNWRITABLE.test(messageOf(error)) && existsSync(path)) return readable(path, error);
    throw unusable(error);
  }
}

/** True if the index must be made again. */
export function isDamage(error: unknown): boolean {
  return DAMAGED.test(messageOf(error));
}

export function removeIndex(path = indexPath()): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) removeFile(path + suffix);
}

function writable(path: string): Database {
  makeDirectory(dirname(path));
  let database = openDatabase(path);
  try {
    prepare(database);
    const version = versionOf(database);
    if (version > VERSION) throw tooNew();
    if (version !== VERSION) {
      if (version > 0 || hasTables(database)) {
        database.close();
        removeIndex(path);
        database = openDatabase(path);
        prepare(database);
      }
      create(database);
    }
    chmodSync(path, PRIVATE);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Two processes may create the index at the same time. */
function create(database: Database): void {
  try {
    createTables(database);
  } catch (error) {
    try {
      database.execute("rollback");
    } catch {
      // The transaction did not begin.
    }
    if (versionOf(database) !== VERSION) throw error;
  }
}

function prepare(database: Database): void {
  requireSqlite(database);
  database.execute(`pragma busy_timeout = ${BUSY_MS}`);
  // Readers and the writer don't wait for each other.
  const { journal_mode: mode } = database.statement("pragma journal_mode").get() as { journal_mode: string };
  if (mode !== "wal") database.execute("pragma journal_mode = wal");
  database.execute("pragma synchronous = normal");
  // Deleted text is overwritten, because `forget` promises that it is gone.
  database.execute("pragma secure_delete = on");
}

function readable(path: string, cause: unknown): OpenIndex {
  try {
    // Without `immutable`, SQLite needs to write beside the file even to read it.
    const database = openDatabase(`file:${encodeURI(path)}?immutable=1`, { readOnly: true });
    requireSqlite(database);
    if (versionOf(database) > VERSION) throw tooNew();
    if (versionOf(database) === VERSION) return { database, path, readOnly: true };
    database.close();
  } catch (error) {
    if (error instanceof UserError) throw error;
  }
  throw unusable(cause);
}

function versionOf(database: Database): number {
  return (database.statement("pragma user_version").get() as { user_version: number }).user_version;
}

function hasTables(database: Database): boolean {
  return database.statement("select 1 from sqlite_master limit 1").get() !== undefined;
}

function requireSqlite(database: Database): void {
  const { version } = database.statement("select sqlite_version() as version").get() as { version: string };
  const [found = [], needed = []] = [version, OLDEST_SQLITE].map((text) => text.split(".").map(Number));
  for (const [at, number] of needed.entries()) {
    if ((found[at] ?? 0) > number) return;
    if ((found[at] ?? 0) < number) {
      throw new SearchError("failed", { kind: "sqlite-too-old", needed: OLDEST_SQLITE, found: version });
    }
  }
}

function tooNew(): SearchError {
  return new SearchError("failed", { kind: "search-index-later" });
}

function unusable(cause: unknown): SearchError {
  return new SearchError("failed", { kind: "search-index-unusable", path: indexPath(), reason: messageOf(cause) });
}
