/**
 * Live activity: a stream of turns as they change. Hubs learn of changes from the database (LISTEN), and each stream
 * then asks as its own person, so that row-level security limits the rows, as everywhere.
 */
import { messageOf } from "../../base/errors.ts";
import type { LiveEvents } from "../../view/protocol.ts";
import { streamResponse } from "../../view/server/http/responses.ts";
import type { Database, Query, Subscription } from "../database/connect.ts";
import { audit, LIVE_CHANNEL } from "../ingest/store.ts";
import type { Caller } from "../people/tokens.ts";
import { TURN_FIELDS, TURN_JOINS, type TurnRow, visibleTurn } from "../query/turns.ts";
import type { Metrics } from "./metrics.ts";
import { RequestError } from "./respond.ts";

/** Changes within this time are one look at the database. */
const GATHER_MS = 200;
const HEARTBEAT_MS = 20_000;
/** A transaction may commit this much later than the time in its rows. */
const OVERLAP_SECONDS = 15;
const MAX_EVENTS = 200;
const MAX_STREAMS = 1_000;
/** Tabs of a browser included. */
const MAX_STREAMS_PER_DEVICE = 12;

interface LiveRow extends TurnRow {
  changed_at: Date;
  digest: string;
}

interface Stream {
  caller: Caller;
  /** For the page, which only wants to know that it should ask again. */
  isPage: boolean;
  since: Date;
  /** The events already shown within the overlap. */
  shown: Set<string>;
  send(event: string): void;
  close(): void;
}

export class Live {
  readonly #database: Database;
  readonly #metrics: Metrics;
  readonly #log: (entry: Record<string, unknown>) => void;
  readonly #streams = new Set<Stream>();
  #subscription: Promise<Subscription> | undefined;
  #gathering: ReturnType<typeof setTimeout> | undefined;

  constructor(database: Database, metrics: Metrics, log: (entry: Record<string, unknown>) => void) {
    this.#database = database;
    this.#metrics = metrics;
    this.#log = log;
  }

  /** Opens a stream of server-sent events; with `hello`, one for the page, as `backtrail view` has it. */
  async open(caller: Caller, signal: AbortSignal, hello?: LiveEvents["hello"]): Promise<Response> {
    const own = [...this.#streams].filter(({ caller: { device } }) => device === caller.device);
    if (this.#streams.size >= MAX_STREAMS || own.length >= MAX_STREAMS_PER_DEVICE)
      throw new RequestError(429, "rate", "Too many streams are open.", { "retry-after": "30" });
    await this.#database.as(caller.person, (query) => audit(query, caller, "live", {}));
    await this.#subscribe();
    const body = this.#stream(caller, signal, hello);
    if (hello) return streamResponse(body);
    return new Response(body, {
      headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
    });
  }

  async stop(): Promise<void> {
    clearTimeout(this.#gathering);
    for (const stream of [...this.#streams]) stream.close();
    const subscription = await this.#subscription?.catch(() => undefined);
    await subscription?.close().catch(() => {});
  }

  /** An attempt that failed is not kept: the next stream tries again. */
  #subscribe(): Promise<Subscription> {
    const look = () => this.#changed();
    this.#subscription ??= this.#database.listen(LIVE_CHANNEL, look, look).catch((error: unknown) => {
      this.#subscription = undefined;
      throw error;
    });
    return this.#subscription;
  }

  #stream(caller: Caller, signal: AbortSignal, hello: LiveEvents["hello"] | undefined): ReadableStream<string> {
    let end = () => {};
    return new ReadableStream<string>({
      start: (controller) => {
        const stream: Stream = {
          caller,
          isPage: hello !== undefined,
          since: new Date(),
          shown: new Set(),
          send: (event) => controller.enqueue(event),
          close: () => {
            end();
            controller.close();
          },
        };
        const heartbeat = setInterval(() => stream.send(":\n\n"), HEARTBEAT_MS);
        end = () => {
          if (!this.#streams.delete(stream)) return;
          clearInterval(heartbeat);
          this.#metrics.streams(-1);
        };
        this.#streams.add(stream);
        this.#metrics.streams(1);
        signal.addEventListener("abort", () => end());
        stream.send(hello ? eventOf("hello", hello) : eventOf("ready", {}));
      },
      cancel: () => end(),
    });
  }

  #changed(): void {
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      for (const stream of this.#streams)
        this.#show(stream).catch((error: unknown) => this.#log({ task: "live", error: messageOf(error) }));
    }, GATHER_MS);
  }

  async #show(stream: Stream): Promise<void> {
    if (!(await isValid(this.#database, stream.caller))) return stream.close();
    const rows = await this.#database.as(stream.caller.person, (query) => changedSince(query, stream.since));
    let isNew = false;
    for (const row of rows) {
      const key = `${row.session_id} ${row.number} ${row.digest}`;
      if (stream.shown.has(key)) continue;
      stream.shown.add(key);
      isNew = true;
      if (stream.shown.size > MAX_EVENTS * 10) stream.shown.clear();
      if (!stream.isPage) stream.send(eventOf("turn", visibleTurn(row)));
    }
    if (stream.isPage && isNew) stream.send(eventOf("changed", CHANGED));
    const newest = rows.at(-1)?.changed_at;
    if (newest && newest > stream.since) stream.since = newest;
  }
}

const CHANGED: LiveEvents["changed"] = { repository: "", topics: ["timeline", "sessions"] };

function eventOf(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A stream may be open for days, and the token revoked meanwhile. */
async function isValid(database: Database, { device }: Caller): Promise<boolean> {
  const rows = await database.asOwner((query) =>
    query(
      "SELECT 1 FROM devices d JOIN people p ON p.id = d.person_id WHERE d.id = $1 AND d.revoked_at IS NULL AND p.removed_at IS NULL",
      device,
    ),
  );
  return rows.length > 0;
}

function changedSince(query: Query, since: Date): Promise<LiveRow[]> {
  return query<LiveRow>(
    `SELECT ${TURN_FIELDS}, t.changed_at, encode(t.digest, 'hex') AS digest FROM turns t ${TURN_JOINS}
     WHERE t.changed_at > $1::timestamptz - interval '${OVERLAP_SECONDS} seconds'
     ORDER BY t.changed_at LIMIT ${MAX_EVENTS * 5}`,
    since.toISOString(),
  );
}
