/** The server of `backtrail view`: starts, answers while a tab is open, and ends after the last one. */

import { newStepId } from "../../base/ids.ts";
import { isRecord } from "../../base/json.ts";
import { Rest } from "../../base/process/rest.ts";
import { version } from "../../base/version.ts";
import type { Workspace } from "../../git/workspace.ts";
import { type Access, createAccess } from "./http/access.ts";
import { type Asset, readAssets } from "./http/assets.ts";
import { allowedHosts, type RequestKind, refusalOf } from "./http/guard.ts";
import { type Connection, type Listener, listen } from "./http/listen.ts";
import { isOwnUsers } from "./http/peer.ts";
import { assetResponse, cookieResponse, errorResponse, failureResponse, jsonResponse } from "./http/responses.ts";
import { LiveEventHub } from "./live/hub.ts";
import { Repositories } from "./repository/repositories.ts";
import { isCommand, isQuery, runCommand, runQuery, type ServerFacts } from "./routes.ts";

export interface ViewOptions {
  workspace: Workspace;
  /** 0: any free port. */
  port: number;
  readOnly: boolean;
  /** How long the server runs after the last tab was closed; 0: until `stop`. */
  idleSeconds: number;
  /** The `backtrail` executable, which the hooks of a fork call. */
  executable: string;
  /** The page's files; by default those of this executable. */
  assets?: ReadonlyMap<string, Asset>;
}

export interface ViewServer {
  /** With the one-time token. */
  url: string;
  port: number;
  /** Resolves when the server has ended, by `stop` or because it was idle. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

/** How long the first tab may take to open. */
const FIRST_TAB_SECONDS = 600;
const MAX_BODY_BYTES = 64 * 1024;

export async function startView(options: ViewOptions): Promise<ViewServer> {
  const view = new View(options, options.assets ?? (await readAssets()));
  return view.start();
}

class View {
  readonly #options: ViewOptions;
  readonly #assets: ReadonlyMap<string, Asset>;
  readonly #access: Access = createAccess();
  readonly #facts: ServerFacts;
  readonly #repositories: Repositories;
  readonly #live: LiveEventHub;
  readonly #ended = Promise.withResolvers<void>();
  #listener: Listener | undefined;
  #hosts: ReadonlySet<string> = new Set();
  #idle: ReturnType<typeof setTimeout> | undefined;
  #running = 0;
  readonly #rest = new Rest();

  constructor(options: ViewOptions, assets: ReadonlyMap<string, Asset>) {
    this.#options = options;
    this.#assets = assets;
    this.#facts = { version, instance: newStepId(), readOnly: options.readOnly, executable: options.executable };
    this.#repositories = new Repositories(options.workspace);
    this.#live = new LiveEventHub({ instance: this.#facts.instance, version }, this.#repositories, (count) =>
      this.#onTabs(count),
    );
  }

  start(): ViewServer {
    const answer = (request: Request, connection: Connection) => this.#answer(request, connection);
    this.#listener = listen({ port: this.#options.port, maxBodyBytes: MAX_BODY_BYTES, answer });
    const { port } = this.#listener;
    this.#hosts = allowedHosts(port);
    if (this.#options.idleSeconds > 0) this.#endAfter(Math.max(FIRST_TAB_SECONDS, this.#options.idleSeconds));
    return {
      url: `http://127.0.0.1:${port}/${this.#access.base}/#token=${this.#access.token}`,
      port,
      ended: this.#ended.promise,
      stop: () => this.#stop(),
    };
  }

  async #answer(request: Request, connection: Connection): Promise<Response> {
    const { pathname, searchParams } = locationOf(request.url);
    const path = pathname.startsWith(`/${this.#access.base}/`) ? pathname.slice(this.#access.base.length + 2) : null;
    const name = path?.startsWith("api/") ? path.slice("api/".length) : null;
    const refusal = refusalOf(request, kindOf(name), this.#hosts);
    if (refusal) return errorResponse("refused", refusal.message, null, refusal.status);
    if (path === null) return errorResponse("not-found", "There is nothing here.");
    if (name === null) return this.#page(path);
    if (name === "login") return this.#login(request, connection);
    if (!this.#access.isKnown(request.headers.get("cookie")))
      return errorResponse("signed-out", "This page is not signed in.", "Run `backtrail view` again.");
    if (name === "events") return this.#live.open(connection);
    this.#running++;
    this.#rest.end();
    try {
      return await this.#run(name, request, searchParams);
    } catch (error) {
      return failureResponse(error);
    } finally {
      if (--this.#running === 0) this.#rest.begin();
    }
  }

  #page(path: string): Response {
    const asset = this.#assets.get(path === "" ? "index.html" : path);
    return asset ? assetResponse(asset) : errorResponse("not-found", "There is nothing here.");
  }

  async #login(request: Request, { peer }: Connection): Promise<Response> {
    if (peer && this.#listener && !isOwnUsers(peer, this.#listener.port))
      return errorResponse("refused", "Only the user who started this server can sign in.");
    const body = await bodyOf(request);
    const cookie = this.#access.exchange(body?.["token"]);
    if (cookie !== null) return cookieResponse(cookie);
    return errorResponse("signed-out", "This address was used before.", "Run `backtrail view` again.");
  }

  async #run(name: string, request: Request, query: URLSearchParams): Promise<Response> {
    const context = { ...this.#facts, repositories: this.#repositories };
    if (isQuery(name)) return jsonResponse(await runQuery(name, context, query));
    if (!isCommand(name)) return errorResponse("not-found", "There is nothing here.");
    if (this.#facts.readOnly)
      return errorResponse("refused", "This page is read-only.", "Start `backtrail view` without --read-only.");
    const body = await bodyOf(request);
    if (!body) return errorResponse("usage", "The request is not a JSON object.");
    return jsonResponse(await runCommand(name, context, body));
  }

  #onTabs(count: number): void {
    clearTimeout(this.#idle);
    if (count === 0 && this.#options.idleSeconds > 0) this.#endAfter(this.#options.idleSeconds);
  }

  #endAfter(seconds: number): void {
    this.#idle = setTimeout(() => {
      // A restore that is under way is finished first.
      if (this.#running > 0) this.#endAfter(1);
      else this.#stop().catch(() => undefined);
    }, seconds * 1000);
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#idle);
    this.#rest.end();
    this.#live.close();
    this.#repositories.close();
    const listener = this.#listener;
    this.#listener = undefined;
    await listener?.close();
    this.#ended.resolve();
  }
}

/** Without the host name, which the client chose and which may be none. */
function locationOf(url: string): Pick<URL, "pathname" | "searchParams"> {
  const path = /^https?:\/\/[^/]*(\/.*)$/s.exec(url)?.[1] ?? "/";
  return new URL(`http://127.0.0.1${path}`);
}

function kindOf(name: string | null): RequestKind {
  if (name === null) return "page";
  return name === "login" || isCommand(name) ? "command" : "query";
}

async function bodyOf(request: Request): Promise<Record<string, unknown> | undefined> {
  try {
    const body: unknown = await request.json();
    return isRecord(body) ? body : undefined;
  } catch {
    return undefined;
  }
}
