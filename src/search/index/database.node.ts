/** Implements database.ts with Node's modules, which Bun has too. Loaded on first use: older versions of Node lack them. */
import { createRequire } from "node:module";
import type { DatabaseSync } from "node:sqlite";
import zlib from "node:zlib";
import { SearchError } from "../problems.ts";
import type { Database, Statement } from "./database-types.ts";

export function openDatabase(path: string, options: { readOnly?: boolean } = {}): Database {
  const database: DatabaseSync = new (sqlite().DatabaseSync)(path, { readOnly: options.readOnly ?? false });
  const statements = new Map<string, Statement>();
  return {
    execute: (sql) => database.exec(sql),
    statement(sql) {
      const known = statements.get(sql);
      if (known) return known;
      const compiled = database.prepare(sql);
      const statement: Statement = {
        run: (...values) => void compiled.run(...values),
        get: (...values) => compiled.get(...values),
        all: (...values) => compiled.all(...values),
      };
      statements.set(sql, statement);
      return statement;
    },
    close: () => database.close(),
  };
}

function sqlite(): typeof import("node:sqlite") {
  try {
    return createRequire(import.meta.url)("node:sqlite");
  } catch {
    throw new SearchError("failed", { kind: "sqlite-missing" });
  }
}

export function compress(data: Uint8Array): Uint8Array {
  return zlib.zstdCompressSync(data, { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } });
}

export function decompress(data: Uint8Array): Buffer {
  return zlib.zstdDecompressSync(data);
}

/** Node keeps its heap small itself. */
export function freeMemory(): void {}
