/** Shared by the hub commands: the database, and the link of an invitation. */
import { UserError } from "../../../base/errors.ts";
import { Database } from "../../../hub/database/connect.ts";
import type { Io } from "../../terminal/io.ts";

export interface DatabaseFlags {
  database?: string;
}

const DEFAULT_URL = "http://127.0.0.1:7420";

/** Opens the database for one command, and closes it afterwards. */
export async function withDatabase<T>(
  io: Io,
  flags: DatabaseFlags,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = new Database({ url: databaseUrl(io, flags), maxConnections: 2 });
  try {
    return await work(database);
  } catch (error) {
    throw inWords(error);
  } finally {
    await database.close().catch(() => {});
  }
}

export function databaseUrl(io: Io, { database }: DatabaseFlags): string {
  const url = database ?? io.environment["BACKTRAIL_HUB_DATABASE"];
  if (url) return url;
  throw new UserError(
    "usage",
    "The database is missing.",
    "Set BACKTRAIL_HUB_DATABASE to `postgres://user:password@host/database`, or give --database.",
  );
}

/** The invitation is behind a `#`, which no browser sends to a server. */
export function inviteLink(url: string | undefined, invitation: string): string {
  return `${(url ?? DEFAULT_URL).replace(/\/+$/, "")}/#${invitation}`;
}

/** A database that cannot be reached is not a fault of Backtrail. */
export function inWords(error: unknown): unknown {
  if (error instanceof UserError || !(error instanceof Error)) return error;
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  const isDatabase = /^ERR_POSTGRES|^E[A-Z]+$/.test(String(code)) || typeof errno === "string";
  if (!isDatabase) return error;
  return new UserError(
    "failed",
    `The database answered: ${error.message}`,
    "`psql` with the same address shows whether it can be reached.",
  );
}
