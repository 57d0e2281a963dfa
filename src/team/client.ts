/** HTTP requests to the hub: bounded in time and size, never redirected, so that the token goes nowhere else. */
import { isIPv4 } from "node:net";
import { messageOf } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import { oneLine, shorten } from "../base/text.ts";
import { type TeamProblem, TeamProblemError } from "./problems.ts";
import {
  type ActivityRow,
  type ForgetAnswer,
  type ForgetRequest,
  type JoinAnswer,
  type JoinRequest,
  type LinkAnswer,
  type MeAnswer,
  type Page,
  PROTOCOL_VERSION,
  type SearchHit,
  type ShareAnswer,
  type ShareRequest,
  type TurnsAnswer,
  type TurnsRequest,
  VERSION_HEADER,
  type VisibleTurn,
} from "./protocol.ts";
import type { FailureKind } from "./state.ts";

const TIMEOUT_MS = 30_000;
const MAX_ANSWER = 32 * 1024 * 1024;

/** A request that the hub did not fulfill, or that never reached it. */
export class HubError extends Error {
  readonly kind: FailureKind;
  /** The hub's own name for the error, such as `schema`; null if it did not answer. */
  readonly answer: string | null;
  readonly retryAfter: number;

  constructor(kind: FailureKind, message: string, answer: string | null = null, retryAfter = 0) {
    super(message);
    this.kind = kind;
    this.answer = answer;
    this.retryAfter = retryAfter;
  }
}

type Parameters = Record<string, string | number | undefined>;

export class HubClient {
  readonly #url: string;
  readonly #token: string | null;
  readonly #timeoutMs: number;

  constructor(url: string, token: string | null, { timeoutMs = TIMEOUT_MS } = {}) {
    this.#url = url;
    this.#token = token;
    this.#timeoutMs = timeoutMs;
  }

  join(request: JoinRequest): Promise<JoinAnswer> {
    return this.#send("POST", "/v1/join", request);
  }

  me(): Promise<MeAnswer> {
    return this.#send("GET", "/v1/me");
  }

  share(request: ShareRequest): Promise<ShareAnswer> {
    return this.#send("POST", "/v1/share", request);
  }

  turns(request: TurnsRequest): Promise<TurnsAnswer> {
    return this.#send("POST", "/v1/turns", request);
  }

  forget(request: ForgetRequest): Promise<ForgetAnswer> {
    return this.#send("POST", "/v1/forget", request);
  }

  link(): Promise<LinkAnswer> {
    return this.#send("POST", "/v1/link", {});
  }

  leave(): Promise<unknown> {
    return this.#send("DELETE", "/v1/device");
  }

  search(parameters: Parameters): Promise<{ items: SearchHit[] }> {
    return this.#send("GET", withParameters("/v1/search", parameters));
  }

  listTurns(parameters: Parameters): Promise<Page<VisibleTurn>> {
    return this.#send("GET", withParameters("/v1/turns", parameters));
  }

  checkpoint(id: string): Promise<{ items: VisibleTurn[] }> {
    return this.#send("GET", withParameters("/v1/checkpoint", { id }));
  }

  activity(parameters: Parameters): Promise<{ items: ActivityRow[] }> {
    return this.#send("GET", withParameters("/v1/activity", parameters));
  }

  /** Yields turns as they change, until the connection ends or `signal` aborts. */
  async *live(signal: AbortSignal): AsyncGenerator<VisibleTurn> {
    const response = await this.#request("GET", "/v1/live", undefined, signal).catch((error: unknown) => {
      throw unreachable(error);
    });
    if (!response.ok) throw failureOf(response, parsed(await boundedText(response)));
    const decoder = new TextDecoder();
    let text = "";
    for await (const part of untilLost(response)) {
      text += decoder.decode(part, { stream: true });
      if (text.length > MAX_ANSWER) throw new HubError("refused", "The hub's answer is too large.");
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = /^event: turn\ndata: (.*)$/.exec(event)?.[1];
        const turn = data === undefined ? undefined : parsed(data);
        if (isRecord(turn)) yield turn as unknown as VisibleTurn;
      }
    }
  }

  async #send<T>(method: string, path: string, body?: object): Promise<T> {
    let response: Response;
    let text: string;
    try {
      response = await this.#request(method, path, body, AbortSignal.timeout(this.#timeoutMs));
      text = await boundedText(response);
    } catch (error) {
      if (error instanceof HubError) throw error;
      throw unreachable(error);
    }
    const value = parsed(text);
    if (response.ok && isRecord(value)) return value as T;
    throw failureOf(response, value);
  }

  #request(method: string, path: string, body: object | undefined, signal: AbortSignal): Promise<Response> {
    return fetch(this.#url + path, {
      method,
      redirect: "error",
      signal,
      headers: {
        [VERSION_HEADER]: String(PROTOCOL_VERSION),
        ...(this.#token === null ? {} : { authorization: `Bearer ${this.#token}` }),
        ...(body ? { "content-type": "application/json" } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }
}

/** Splits a link `https://hub.example/#bti_…` into the hub's address and the invitation. */
export function parseHubLink(text: string, options: { insecure?: boolean } = {}): { url: string; invitation: string } {
  const usage = (kind: TeamProblem["kind"]) => new TeamProblemError("usage", { kind });
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw usage("not-a-hub");
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") throw usage("hub-not-http");
  if (url.protocol === "http:" && !isLoopback(url.hostname) && !options.insecure) throw usage("hub-not-encrypted");
  const invitation = url.hash.slice(1);
  return { url: `${url.origin}${url.pathname.replace(/\/+$/, "")}`, invitation };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || (isIPv4(host) && host.startsWith("127."));
}

async function* untilLost(response: Response): AsyncGenerator<Uint8Array> {
  try {
    yield* response.body ?? [];
  } catch (error) {
    throw unreachable(error);
  }
}

function unreachable(error: unknown): HubError {
  return new HubError("unreachable", `The hub could not be reached: ${shorten(oneLine(messageOf(error)), 200)}`);
}

function failureOf(response: Response, value: unknown): HubError {
  const error = isRecord(value) && isRecord(value["error"]) ? value["error"] : {};
  const message =
    typeof error["message"] === "string" ? shorten(oneLine(error["message"]), 300) : `It answered ${response.status}.`;
  const answer = typeof error["kind"] === "string" ? error["kind"] : String(response.status);
  const retryAfter = Math.min(3_600, Number(response.headers.get("retry-after")) || 0);
  const kinds: Record<number, FailureKind> = {
    401: "revoked",
    426: "outdated",
    429: "busy",
    503: "busy",
    502: "busy",
    504: "busy",
  };
  const kind = kinds[response.status] ?? (response.status >= 500 ? "busy" : "refused");
  return new HubError(kind, `The hub answered: ${message}`, answer, retryAfter);
}

async function boundedText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > MAX_ANSWER) throw new HubError("refused", "The hub's answer is too large.");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function withParameters(path: string, parameters: Parameters): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return `${path}?${new URLSearchParams(given as [string, string][])}`;
}
