/**
 * The hub's HTTP server: any number of these processes may share one database. It keeps nothing in memory but counters
 * and rate limits, so that it can be stopped and started at any time.
 */
import { messageOf } from "../../base/errors.ts";
import { version } from "../../base/version.ts";
import { MAX_BODY_BYTES, PROTOCOL_VERSION, VERSION_HEADER } from "../../team/protocol.ts";
import { type Database, DatabaseTimeout, isRepeatable, sqlState } from "../database/connect.ts";
import { requireCurrentSchema, requireUsableSchema } from "../database/migrate.ts";
import { Months } from "../ingest/months.ts";
import { PendingWords } from "../ingest/pending-words.ts";
import { Page } from "../page/page.ts";
import { type Caller, callerOf } from "../people/tokens.ts";
import { HubProblemError } from "../problems.ts";
import { RateLimit } from "./limits.ts";
import { Live } from "./live.ts";
import { Metrics } from "./metrics.ts";
import { errorAnswer, jsonAnswer, RequestError, textAnswer } from "./respond.ts";
import { ROUTES } from "./routes.ts";

export interface ServeOptions {
  host: string;
  /** 0: any free port. */
  port: number;
  tls?: { cert: string; key: string } | undefined;
  /** The address under which browsers reach the hub, for its page; defaults to where it listens. */
  url?: string | undefined;
  /** A proxy in front tells the address of each caller: the last one in X-Forwarded-For. */
  behindProxy?: boolean;
  /** Serves counters at /metrics, to everybody who can reach the hub. */
  metrics?: boolean;
  /** Requests per second of one machine (default: 20); ten seconds' worth may come at once. */
  requestsPerSecond?: number;
  /** Requests per second without a valid token from one address (default: 0.5); a minute's worth may come at once. */
  joinsPerSecond?: number;
  /** Receives one line for each failure that is not the caller's. */
  log(entry: Record<string, unknown>): void;
}

export interface RunningHub {
  url: string;
  /** Answers requests that have begun, and takes no new ones. */
  stop(): Promise<void>;
}

const REQUESTS_PER_SECOND = 20;
const JOINS_PER_SECOND = 0.5;
const SOURCES_EVERY_MS = 60_000;
/** PostgreSQL's states for a full disk and an error of the disk. */
const FULL = /^(?:53100|58030)$/;
/** A standby, or a server that was set to read-only. */
const READ_ONLY = /^25006$/;
/** No memory, too many connections, a limit of the configuration, a lock or a statement that took too long. */
const EXHAUSTED = /^(?:53...|55P03|57014)$/;

export async function serveHub(database: Database, options: ServeOptions): Promise<RunningHub> {
  await requireCurrentSchema(database);
  const hub = new Hub(database, options);
  const server = listen(hub, options);
  const reading = readSourcesRegularly(database, options);
  const url = `${options.tls ? "https" : "http"}://${hostInUrl(options.host)}:${server.port}`;
  hub.openPage(options.url ?? url);
  return {
    url,
    async stop() {
      reading.stop();
      await hub.stop();
      await server.stop();
    },
  };
}

class Hub {
  readonly #database: Database;
  readonly #options: ServeOptions;
  readonly #metrics = new Metrics();
  readonly #months: Months;
  readonly #pendingWords: PendingWords;
  readonly #live: Live;
  #page: Page | undefined;
  /** For everybody without a token, by address. */
  readonly #strangers: RateLimit;
  readonly #devices: RateLimit;

  constructor(database: Database, options: ServeOptions) {
    this.#database = database;
    this.#months = new Months(database);
    this.#pendingWords = new PendingWords(database, options.log);
    this.#options = options;
    this.#live = new Live(database, this.#metrics, options.log);
    const perSecond = options.requestsPerSecond ?? REQUESTS_PER_SECOND;
    this.#devices = new RateLimit(perSecond * 10, perSecond);
    this.#strangers = new RateLimit(
      (options.joinsPerSecond ?? JOINS_PER_SECOND) * 60,
      options.joinsPerSecond ?? JOINS_PER_SECOND,
    );
  }

  openPage(url: string): void {
    this.#page = new Page(this.#database, { url });
  }

  async stop(): Promise<void> {
    this.#pendingWords.stop();
    await this.#live.stop();
  }

  async answer(request: Request, address: string): Promise<Response> {
    const began = performance.now();
    const url = URL.parse(request.url);
    if (!url) return errorAnswer(new RequestError(400, "address", "The address of this request is not valid."));
    const route = ROUTES.find(({ method, path }) => method === request.method && path === url.pathname);
    const response = await this.#answer(request, url, route, address);
    this.#metrics.request(route?.path ?? "other", response.status, (performance.now() - began) / 1000);
    return response;
  }

  async #answer(
    request: Request,
    url: URL,
    route: (typeof ROUTES)[number] | undefined,
    address: string,
  ): Promise<Response> {
    try {
      if (!route) return await this.#other(request, url, address);
      requireVersion(request);
      const caller = route.scope ? await this.#caller(request, address) : this.#stranger(address);
      if (route.scope && !caller.scopes.includes(route.scope))
        throw new RequestError(403, "scope", "Readers of this team send nothing.");
      const context = {
        database: this.#database,
        months: this.#months,
        pendingWords: this.#pendingWords,
        metrics: this.#metrics,
        live: this.#live,
        request,
        url,
      };
      return await route.answer(context, caller);
    } catch (error) {
      return this.failure(error, request, url);
    }
  }

  async #other(request: Request, url: URL, address: string): Promise<Response> {
    const isGet = request.method === "GET";
    if (isGet && url.pathname === "/healthz") return textAnswer("ok\n");
    if (isGet && url.pathname === "/readyz") {
      await requireUsableSchema(this.#database);
      return textAnswer("ready\n");
    }
    if (isGet && url.pathname === "/metrics" && this.#options.metrics) return textAnswer(this.#metrics.toString());
    const answer = await this.#page?.answer({
      request,
      url,
      requireCalm: (caller) =>
        void (caller ? requireTokens(this.#devices.take(caller.device)) : this.#stranger(address)),
      live: (caller, signal) => this.#live.open(caller, signal, { instance: version, version }),
    });
    if (answer) return answer;
    throw new RequestError(404, "not-found", "There is nothing here.");
  }

  async #caller(request: Request, address: string): Promise<Caller> {
    const token = /^Bearer (\S{1,200})$/.exec(request.headers.get("authorization") ?? "")?.[1];
    const caller = token === undefined ? undefined : await callerOf(this.#database, token);
    if (!caller) {
      this.#stranger(address);
      throw new RequestError(401, "token", "This token is wrong or was revoked.", { "www-authenticate": "Bearer" });
    }
    requireTokens(this.#devices.take(caller.device));
    return caller;
  }

  #stranger(address: string): Caller {
    requireTokens(this.#strangers.take(address));
    return { person: 0, name: "", role: "reader", device: "", scopes: [] };
  }

  /** An error of ours gets an id that the log has too, and no details. */
  failure(error: unknown, request?: Request, url?: URL): Response {
    if (error instanceof RequestError) return errorAnswer(error);
    const id = crypto.randomUUID();
    const { status, kind, message, retryAfter } = troubleOf(error);
    const where = { method: request?.method, path: url?.pathname };
    this.#options.log({ id, ...where, status, error: messageOf(error), state: sqlState(error) });
    return jsonAnswer({ error: { kind, message, id } }, status, retryAfter ? { "retry-after": retryAfter } : {});
  }
}

interface Trouble {
  status: 500 | 503;
  kind: string;
  message: string;
  /** In seconds. */
  retryAfter?: string;
}

/** Temporary failures are 503: clients keep their data and retry. */
function troubleOf(error: unknown): Trouble {
  const state = sqlState(error) ?? "";
  if (FULL.test(state))
    return { status: 503, kind: "full", message: "The hub's database has no room left.", retryAfter: "300" };
  if (READ_ONLY.test(state))
    return {
      status: 503,
      kind: "busy",
      message: "The hub's database takes no changes at the moment.",
      retryAfter: "30",
    };
  if (isRepeatable(error) || error instanceof DatabaseTimeout || EXHAUSTED.test(state))
    return { status: 503, kind: "busy", message: "The hub's database does not answer at the moment.", retryAfter: "5" };
  return { status: 500, kind: "internal", message: "The hub failed; its log says why." };
}

/** Reads sources once a minute; a source that fails is tried again the next time. */
function readSourcesRegularly(database: Database, { log }: ServeOptions): { stop(): void } {
  let isReading = false;
  const read = async () => {
    if (isReading) return;
    isReading = true;
    try {
      const { listSources, readSource } = await import("../sources/read.ts");
      const months = new Months(database);
      for (const source of await listSources(database))
        await readSource(database, months, source, { whole: false }).catch((error: unknown) =>
          log({ source: source.id, error: messageOf(error) }),
        );
    } catch (error) {
      log({ task: "sources", error: messageOf(error) });
    } finally {
      isReading = false;
    }
  };
  const timer = setInterval(read, SOURCES_EVERY_MS);
  return { stop: () => clearInterval(timer) };
}

function listen(hub: Hub, { host, port, tls, behindProxy = false }: ServeOptions): Bun.Server<undefined> {
  try {
    return Bun.serve({
      hostname: host,
      port,
      ...(tls ? { tls } : {}),
      idleTimeout: 60,
      maxRequestBodySize: 2 * MAX_BODY_BYTES,
      fetch: (request, server) => {
        const address = server.requestIP(request)?.address ?? "";
        return hub.answer(request, behindProxy ? (forwardedFor(request) ?? address) : address);
      },
      error: (error) => hub.failure(error),
    });
  } catch (error) {
    throw new HubProblemError("failed", { kind: "cannot-listen", host, port, reason: messageOf(error) });
  }
}

/** What comes before the last address is what the caller said about itself. */
function forwardedFor(request: Request): string | undefined {
  return request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim().slice(0, 100) || undefined;
}

/** A request without a version is of version 1. The answer is worded here because an old client cannot know better. */
function requireVersion(request: Request): void {
  const version = request.headers.get(VERSION_HEADER) ?? "1";
  if (version === String(PROTOCOL_VERSION)) return;
  const theirs = /^\d{1,9}$/.test(version) ? Number(version) : 0;
  const advice =
    theirs < PROTOCOL_VERSION
      ? "This machine's Backtrail is older than the hub: update it."
      : "The hub is older than this machine's Backtrail: ask its administrator to update it.";
  const message = `${advice} (The hub speaks version ${PROTOCOL_VERSION} of the protocol, the machine ${theirs}.)`;
  throw new RequestError(426, "version", message, { upgrade: `backtrail/${PROTOCOL_VERSION}` });
}

function requireTokens(wait: number): void {
  if (wait > 0) throw new RequestError(429, "rate", "Too many requests.", { "retry-after": String(wait) });
}

function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
