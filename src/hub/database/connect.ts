/**
 * The only file that talks to PostgreSQL. Every transaction has a time limit, in the server and here; a transaction that
 * loses its connection runs once more, so `work` must be repeatable; the number of connections is bounded.
 */

import { log } from "../../base/log.ts";
import { HubProblemError } from "../problems.ts";
import { Slots } from "./slots.ts";

/** Runs one statement with `$1`, `$2`, … as parameters. */
export type Query = <Row extends object>(text: string, ...values: Parameter[]) => Promise<Row[]>;

type Parameter = string | number | boolean | null | Uint8Array;

export interface DatabaseOptions {
  url: string;
  /** The address of a replica for reading; defaults to `url`. */
  readUrl?: string;
  maxConnections?: number;
  /** The limit for one transaction, in milliseconds. */
  timeoutMs?: number;
  /** How long a transaction may wait for a connection while others use all of them, in milliseconds. */
  waitMs?: number;
}

export interface TransactionOptions {
  timeoutMs?: number;
  /** Runs on the read replica, if there is one; on the primary if that one does not answer. */
  readOnly?: boolean;
}

interface Attempt extends TransactionOptions {
  /** The owner of the index if absent. */
  person?: number;
}

export interface Subscription {
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 10;
const TIMEOUT_MS = 10_000;
const WAIT_MS = 10_000;
/** How much longer than the server's own limit to wait for its answer. */
const GRACE_MS = 2_000;
const RETRY_PAUSE_MS = 250;

/** Compiling a statement takes longer than these statements do. */
const SETTINGS =
  "SELECT set_config('statement_timeout', $1, true), set_config('search_path', 'backtrail', true), set_config('jit', 'off', true)";

const PERSON = "set_config('backtrail.person', $2, true), set_config('role', 'backtrail_person', true)";

/** Errors of the connection. Repeating does no harm even if the transaction was committed: it is repeatable. */
const CONNECTION_ERRORS = /^(?:ERR_POSTGRES_(?:CONNECTION|IDLE|LIFETIME)_\w+|ECONNREFUSED|ECONNRESET|EPIPE)$/;
/** Server shutdown and start, serialization failure, deadlock. */
const REPEATABLE_STATES = /^(?:08...|57P0[123]|40001|40P01)$/;

export class DatabaseTimeout extends Error {}

export class Database {
  readonly #options: Required<DatabaseOptions>;
  /** Transactions wait here and not in a pool, so that the time of each begins when it has a connection. */
  readonly #slots: Slots;
  readonly #readSlots: Slots;
  #pool: Bun.SQL;
  #readPool: Bun.SQL;
  /** Uses a separate connection, which must outlive replaced pools. */
  #listener: Bun.SQL | undefined;

  constructor(options: DatabaseOptions) {
    this.#options = {
      readUrl: options.url,
      maxConnections: MAX_CONNECTIONS,
      timeoutMs: TIMEOUT_MS,
      waitMs: WAIT_MS,
      ...options,
    };
    requireAddress(this.#options.url);
    requireAddress(this.#options.readUrl);
    this.#slots = new Slots(this.#options.maxConnections);
    this.#readSlots = this.hasReplica ? new Slots(this.#options.maxConnections) : this.#slots;
    this.#pool = this.#connect(this.#options.url);
    this.#readPool = this.hasReplica ? this.#connect(this.#options.readUrl) : this.#pool;
  }

  /** Runs a transaction on behalf of a person: row-level security shows only what the person may see. */
  as<T>(person: number, work: (query: Query) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#transaction((query) => work((text, ...values) => query(text, values) as Promise<never>), {
      ...options,
      person,
    });
  }

  /** Runs a transaction as the owner of the index, past every policy: for the hub itself, never for a request's data. */
  asOwner<T>(work: (query: Query) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#transaction((query) => work((text, ...values) => query(text, values) as Promise<never>), options);
  }

  /**
   * Calls `onNotify` for each notification. A lost connection is made again; `onListening` runs each time, because
   * notifications may have been missed before.
   */
  async listen(channel: string, onNotify: () => void, onListening: () => void): Promise<Subscription> {
    this.#listener ??= this.#connect(this.#options.url);
    const subscription = await this.#listener.listen(channel, onNotify, onListening);
    return { close: () => subscription.unlisten() };
  }

  /** Whether reads use a separate server. */
  get hasReplica(): boolean {
    return this.#options.readUrl !== this.#options.url;
  }

  async close(): Promise<void> {
    const pools = new Set([this.#pool, this.#readPool, ...(this.#listener ? [this.#listener] : [])]);
    await Promise.all([...pools].map((pool) => pool.close({ timeout: 5 })));
  }

  async #transaction<T>(work: (query: RawQuery) => Promise<T>, options: Attempt): Promise<T> {
    try {
      return await this.#attempt(work, options);
    } catch (error) {
      const isReplica = options.readOnly === true && this.hasReplica;
      if (!isRepeatable(error) && !(isReplica && error instanceof DatabaseTimeout)) throw error;
      // If a replica is down, or its replay cancelled the query, ask the primary, which has everything.
      if (isReplica) return this.#attempt(work, { ...options, readOnly: false });
      await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
      return this.#attempt(work, options);
    }
  }

  async #attempt<T>(work: (query: RawQuery) => Promise<T>, options: Attempt): Promise<T> {
    const slots = options.readOnly ? this.#readSlots : this.#slots;
    if (!(await slots.take(this.#options.waitMs)))
      throw new DatabaseTimeout(`No connection to the database was free for ${this.#options.waitMs} ms.`);
    try {
      return await this.#run(work, options);
    } finally {
      slots.give();
    }
  }

  async #run<T>(work: (query: RawQuery) => Promise<T>, options: Attempt): Promise<T> {
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs;
    const pool = options.readOnly ? this.#readPool : this.#pool;
    const running = pool.begin(async (transaction) => {
      const query: RawQuery = async (text, values) => (await transaction.unsafe(text, values as never[])) as object[];
      if (options.person === undefined) await query(SETTINGS, [String(timeoutMs)]);
      else await query(`${SETTINGS}, ${PERSON}`, [String(timeoutMs), String(options.person)]);
      return work(query);
    });
    return (await this.#withinTime(running, timeoutMs + GRACE_MS, pool)) as T;
  }

  /** A connection that no longer answers is never given back, so the whole pool is replaced. */
  async #withinTime<T>(running: Promise<T>, limitMs: number, pool: Bun.SQL): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new DatabaseTimeout(`The database did not answer within ${limitMs} ms.`));
      this.#replace(pool);
    }, limitMs);
    running.catch(() => {});
    try {
      return await Promise.race([running, promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  #replace(stuck: Bun.SQL): void {
    log("warn", "hub", "The database did not answer; its connections are replaced.");
    if (this.#pool === stuck) this.#pool = this.#connect(this.#options.url);
    if (this.#readPool === stuck) this.#readPool = this.hasReplica ? this.#connect(this.#options.readUrl) : this.#pool;
    stuck.close({ timeout: 0 }).catch(() => {});
  }

  #connect(url: string): Bun.SQL {
    return new Bun.SQL({
      url,
      max: this.#options.maxConnections,
      idleTimeout: 60,
      connectionTimeout: Math.ceil(this.#options.timeoutMs / 1000),
      connection: { application_name: "backtrail hub" },
    });
  }
}

type RawQuery = (text: string, values: readonly Parameter[]) => Promise<object[]>;

export function isRepeatable(error: unknown): boolean {
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  return CONNECTION_ERRORS.test(String(code)) || REPEATABLE_STATES.test(String(errno));
}

/** The SQLSTATE of an error of the server, such as `23505`. */
export function sqlState(error: unknown): string | undefined {
  const { errno } = error as { errno?: unknown };
  return typeof errno === "string" ? errno : undefined;
}

function requireAddress(url: string): void {
  if (/^postgres(?:ql)?:\/\//.test(url)) return;
  throw new HubProblemError("usage", { kind: "not-a-database" });
}
