/** The monthly partitions of the index: the month of a session decides where all of its turns are stored. */
import type { Database } from "../database/connect.ts";

/** Sessions with impossible times, such as from a machine whose clock is wrong. */
const OTHER = "1970-01-01";
const FIRST = "2020-01-01";
/** A clock may be a little ahead. */
const AHEAD_MS = 24 * 60 * 60 * 1000;

/** Remembers which partitions exist, so that only the first turn of a month asks. */
export class Months {
  readonly #database: Database;
  readonly #known = new Set<string>([OTHER]);

  constructor(database: Database) {
    this.#database = database;
  }

  /** Creates missing partitions in separate transactions, because each briefly locks the tables. */
  async ensure(times: Iterable<string>): Promise<void> {
    for (const month of new Set([...times].map((time) => monthOf(time)))) {
      if (this.#known.has(month)) continue;
      await this.#database.asOwner((query) => query("SELECT ensure_month($1::date)", month));
      this.#known.add(month);
    }
  }
}

/** The first day of a time's month, in UTC. */
export function monthOf(time: string, now = Date.now()): string {
  const at = Date.parse(time);
  if (Number.isNaN(at) || at > now + AHEAD_MS) return OTHER;
  const month = `${new Date(at).toISOString().slice(0, 7)}-01`;
  return month < FIRST || month.length !== OTHER.length ? OTHER : month;
}
