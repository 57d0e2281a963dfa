/**
 * Opens SQLite databases, compresses blocks and frees memory, with Bun's own functions. The library, which also runs in
 * Node, is built with database.node.ts instead.
 */
import { fullGC } from "bun:jsc";
import { constants, Database as Sqlite } from "bun:sqlite";
import type { Database, Statement, Value } from "./database-types.ts";

export function openDatabase(path: string, options: { readOnly?: boolean } = {}): Database {
  const flags = options.readOnly
    ? constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI
    : constants.SQLITE_OPEN_READWRITE | constants.SQLITE_OPEN_CREATE;
  const database = new Sqlite(path, flags);
  return {
    execute: (sql) => void database.run(sql),
    statement(sql): Statement {
      const statement = database.query<unknown, Value[]>(sql);
      return {
        run: (...values) => void statement.run(...values),
        get: (...values) => statement.get(...values) ?? undefined,
        all: (...values) => statement.all(...values),
      };
    },
    close: () => database.close(),
  };
}

export function compress(data: Uint8Array): Uint8Array {
  return Bun.zstdCompressSync(data as Uint8Array<ArrayBuffer>, { level: 1 });
}

export function decompress(data: Uint8Array): Buffer {
  const content = Bun.zstdDecompressSync(data as Uint8Array<ArrayBuffer>);
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

/** Frees unused memory. Without this, the heap grows to several times what indexing needs. */
export function freeMemory(): void {
  fullGC();
}
