/**
 * Empties the pending lists of the full-text indexes when sending pauses. Storing turns only appends to these lists,
 * because that is many times cheaper; a search has to read them whole.
 */
import { messageOf } from "../../base/errors.ts";
import type { Database } from "../database/connect.ts";

/** After the last request that stored texts. */
const PAUSE_MS = 2_000;
/** While requests never pause. A list that is full before is emptied by the request that finds it so. */
const MAX_DELAY_MS = 60_000;
const TIMEOUT_MS = 300_000;

export class PendingWords {
  readonly #database: Database;
  readonly #log: (entry: Record<string, unknown>) => void;
  readonly #months = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #since = 0;

  constructor(database: Database, log: (entry: Record<string, unknown>) => void) {
    this.#database = database;
    this.#log = log;
  }

  /** Texts of these months were stored. */
  added(months: Iterable<string>): void {
    if (this.#months.size === 0) this.#since = performance.now();
    for (const month of months) this.#months.add(month);
    if (this.#months.size === 0) return;
    clearTimeout(this.#timer);
    const longest = this.#since + MAX_DELAY_MS - performance.now();
    this.#timer = setTimeout(() => void this.empty(), Math.max(0, Math.min(PAUSE_MS, longest)));
  }

  async empty(): Promise<void> {
    clearTimeout(this.#timer);
    const months = [...this.#months];
    this.#months.clear();
    if (months.length === 0) return;
    try {
      await this.#database.asOwner(
        async (query) => {
          await query("SELECT set_config('maintenance_work_mem', '128MB', true)");
          await query("SELECT empty_pending_lists($1::date[])", `{${months.join(",")}}`);
        },
        { timeoutMs: TIMEOUT_MS },
      );
    } catch (error) {
      this.#log({ task: "pending-words", error: messageOf(error) });
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
