/**
 * The hub's page: the page of `backtrail view`, with what the signed-in person may read. It only reads: there is no
 * command but signing in and out. Headers are checked by the viewer's own rules, on every address.
 */
import { UserError } from "../../base/errors.ts";
import { version } from "../../base/version.ts";
import { type Asset, readAssets } from "../../view/server/http/assets.ts";
import { type RequestKind, refusalOf } from "../../view/server/http/guard.ts";
import { assetResponse, cookieResponse, errorResponse, jsonResponse } from "../../view/server/http/responses.ts";
import type { Database } from "../database/connect.ts";
import type { Caller } from "../people/tokens.ts";
import { readBounded } from "../server/respond.ts";
import { NotThere } from "./not-there.ts";
import { isPageQuery, runPageQuery } from "./queries.ts";
import { browserOf, signOut, useLink } from "./sign-in.ts";

export interface PageOptions {
  /** The address under which browsers reach the hub. */
  url: string;
}

interface PageRequest {
  request: Request;
  url: URL;
  /** Throws if this caller has asked too often. */
  requireCalm(caller: Caller | null): void;
  /** Opens the stream of live events. */
  live(caller: Caller, signal: AbortSignal): Promise<Response>;
}

const MAX_LOGIN_BYTES = 1_000;
const LOGIN_HINT = "Run `backtrail team view` for a link that signs this browser in.";

export class Page {
  readonly #database: Database;
  readonly #hosts: ReadonlySet<string>;
  readonly #scheme: "http" | "https";
  /** A name with `__Host-` is bound to the host, and sent only with encryption. */
  readonly #cookie: string;
  #assets: Promise<ReadonlyMap<string, Asset>> | undefined;

  constructor(database: Database, { url }: PageOptions) {
    const { host, protocol } = new URL(url);
    this.#database = database;
    this.#hosts = new Set([host]);
    this.#scheme = protocol === "https:" ? "https" : "http";
    this.#cookie = this.#scheme === "https" ? "__Host-backtrail" : "backtrail-hub";
  }

  /** Undefined if the page has no such address. */
  async answer(given: PageRequest): Promise<Response | undefined> {
    const path = given.url.pathname.slice(1);
    const name = path.startsWith("api/") ? path.slice("api/".length) : null;
    const asset = name === null ? (await this.#files()).get(path === "" ? "index.html" : path) : undefined;
    if (name === null && !asset) return undefined;
    const refusal = refusalOf(given.request, kindOf(name), this.#hosts, this.#scheme);
    if (refusal) return errorResponse("refused", refusal.message, null, refusal.status);
    if (asset) return assetResponse(asset);
    return name === "login" ? this.#login(given) : this.#api(name ?? "", given);
  }

  async #login({ request, requireCalm }: PageRequest): Promise<Response> {
    requireCalm(null);
    const cookie = await useLink(this.#database, await tokenIn(request));
    if (cookie === undefined)
      return errorResponse("signed-out", "This link was used before, or has expired.", LOGIN_HINT);
    return cookieResponse(this.#setCookie(cookie));
  }

  async #api(name: string, { request, url, requireCalm, live }: PageRequest): Promise<Response> {
    const cookie = this.#cookieOf(request);
    const caller = cookie === undefined ? undefined : await browserOf(this.#database, cookie);
    if (!caller || cookie === undefined) {
      requireCalm(null);
      return errorResponse("signed-out", "This browser is not signed in.", LOGIN_HINT);
    }
    requireCalm(caller);
    if (name === "logout") {
      await signOut(this.#database, cookie);
      return cookieResponse(`${this.#setCookie("")}; Max-Age=0`);
    }
    if (name === "events") return live(caller, request.signal);
    if (!isPageQuery(name)) return errorResponse("not-found", "There is nothing here.");
    try {
      return jsonResponse(await runPageQuery(name, { database: this.#database, caller, version }, url.searchParams));
    } catch (error) {
      if (error instanceof NotThere)
        return errorResponse("not-found", "This is not shared here, or not with you.", "It may have been forgotten.");
      if (error instanceof UserError && error.kind === "usage") return errorResponse("usage", error.message);
      throw error;
    }
  }

  /** The page may be missing from this copy of the program: then the hub serves its API alone. */
  #files(): Promise<ReadonlyMap<string, Asset>> {
    this.#assets ??= readAssets().then(withMark, () => new Map<string, Asset>());
    return this.#assets;
  }

  #setCookie(value: string): string {
    const secure = this.#scheme === "https" ? "; Secure" : "";
    return `${this.#cookie}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}`;
  }

  #cookieOf(request: Request): string | undefined {
    const pairs = (request.headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
    return pairs.find((pair) => pair.startsWith(`${this.#cookie}=`))?.slice(this.#cookie.length + 1);
  }
}

/** Tells the page that its server is a hub, before the first request. */
function withMark(assets: ReadonlyMap<string, Asset>): ReadonlyMap<string, Asset> {
  const index = assets.get("index.html");
  if (!index) return assets;
  return new Map([...assets, ["index.html", { ...index, text: index.text.replace("<html ", '<html data-hub="" ') }]]);
}

function kindOf(name: string | null): RequestKind {
  if (name === null) return "page";
  return name === "login" || name === "logout" ? "command" : "query";
}

async function tokenIn(request: Request): Promise<unknown> {
  const text = await readBounded(request, MAX_LOGIN_BYTES);
  try {
    return (JSON.parse(text) as { token?: unknown } | null)?.token;
  } catch {
    return undefined;
  }
}
