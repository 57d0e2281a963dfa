/** Requests to the server, typed by the protocol. The only file that fetches. */
import type { CommandName, Commands, ErrorAnswer, Queries, QueryName } from "../../protocol.ts";
import { exported, exportedAnswer } from "./exported.ts";
import { isHub } from "./hub.ts";

export type ErrorKind = ErrorAnswer["error"]["kind"] | "offline";

export class RequestError extends Error {
  readonly kind: ErrorKind;
  readonly hint: string | null;

  constructor(kind: ErrorKind, message: string, hint: string | null) {
    super(message);
    this.kind = kind;
    this.hint = hint;
  }
}

/** The repository that requests are about; empty for the one that `view` was started in. */
let repository = "";

export function setRepository(id: string): void {
  repository = id;
}

export function addressOf(name: string, query: object = {}): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries({ repository, ...query }))
    if (typeof value === "string" && value !== "") parameters.set(key, value);
  const text = parameters.toString();
  return text === "" ? `api/${name}` : `api/${name}?${text}`;
}

/** Answers that were asked for before the screen that shows them was drawn. Each is used once. */
const early = new Map<string, Promise<unknown>>();

export function askEarly<N extends QueryName>(name: N, parameters: Queries[N]["query"]): void {
  const address = addressOf(name, parameters);
  const answer = send(address, {});
  // Whoever uses the answer sees the error.
  answer.catch(() => {});
  early.set(address, answer);
}

export async function query<N extends QueryName>(
  name: N,
  parameters: Queries[N]["query"],
  signal?: AbortSignal,
): Promise<Queries[N]["answer"]> {
  if (exported) {
    const answer = exportedAnswer(exported, name, parameters);
    if (answer !== undefined) return answer as Queries[N]["answer"];
    throw new RequestError("not-found", "This is not in the file.", "Only one session was exported.");
  }
  const address = addressOf(name, parameters);
  const asked = early.get(address);
  early.delete(address);
  return (await (asked ?? send(address, signal ? { signal } : {}))) as Queries[N]["answer"];
}

export async function command<N extends CommandName>(
  name: N,
  body: Commands[N]["body"],
): Promise<Commands[N]["answer"]> {
  const all = repository === "" ? body : { repository, ...body };
  return (await send(`api/${name}`, post(all))) as Commands[N]["answer"];
}

/** Exchanges the token in the address for a cookie, and removes the token from the address and the history. */
export async function signIn(): Promise<void> {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  await send("api/login", post({ token }));
}

/** Ends the session of this browser; only at a hub. */
export async function signOut(): Promise<void> {
  await send("api/logout", post({}));
}

function post(body: unknown): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

async function send(address: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(address, { credentials: "same-origin", ...init }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new RequestError("offline", "The server does not answer.", isHub ? null : "Run `backtrail view` again.");
  });
  if (response.status === 204) return undefined;
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  const { error } = (answer ?? {}) as Partial<ErrorAnswer>;
  throw new RequestError(
    error?.kind ?? (response.status === 401 ? "signed-out" : "failed"),
    error?.message ?? `The server answered ${response.status}.`,
    error?.hint ?? null,
  );
}
