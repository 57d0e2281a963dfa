/** `backtrail view` of the built executable, started as a user would, and a client that talks to it as the page does. */
import { type ChildProcess, spawn } from "node:child_process";
import type { CommandName, Commands, LiveEvents, Queries, QueryName } from "../../../src/view/protocol.ts";
import { executable } from "../binary.ts";
import type { TemporaryRepository } from "../repository.ts";

export interface StartOptions {
  args?: string[];
  env?: Record<string, string>;
}

export interface LiveEvent {
  name: keyof LiveEvents;
  data: LiveEvents[keyof LiveEvents];
}

/** A `query` of the protocol, with the repository that every query accepts. */
type QueryOf<Name extends QueryName> = Queries[Name]["query"] & { repository?: string };

export class ViewProcess implements AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #cookie = "";

  constructor(child: ChildProcess, { url, pid }: { url: string; pid: number }, ended: Promise<number | null>) {
    this.#child = child;
    this.url = url;
    this.pid = pid;
    this.#ended = ended;
  }

  /** `http://127.0.0.1:<port>` */
  get origin(): string {
    return new URL(this.url).origin;
  }

  /** Ends with a slash. */
  get base(): string {
    const { origin, pathname } = new URL(this.url);
    return origin + pathname;
  }

  get token(): string {
    return new URL(this.url).hash.replace("#token=", "");
  }

  get cookie(): string {
    return this.#cookie;
  }

  /** The exit status, once the server has ended by itself. */
  get ended(): Promise<number | null> {
    return this.#ended;
  }

  /** A request without any of the page's headers but those given. */
  raw(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(new URL(path, this.base), { redirect: "manual", ...init });
  }

  async login(token = this.token): Promise<Response> {
    const response = await this.raw("api/login", {
      method: "POST",
      headers: { Origin: this.origin, "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
    const cookie = response.headers.get("set-cookie");
    if (cookie) this.#cookie = cookie.split(";")[0] ?? "";
    return response;
  }

  async get<Name extends QueryName>(
    name: Name,
    query: QueryOf<Name> = {} as QueryOf<Name>,
  ): Promise<Queries[Name]["answer"]> {
    const parameters = new URLSearchParams(query as Record<string, string>);
    const response = await this.raw(`api/${name}?${parameters}`, { headers: this.headers() });
    return answerOf(name, response);
  }

  async post<Name extends CommandName>(name: Name, body: Commands[Name]["body"]): Promise<Commands[Name]["answer"]> {
    const headers = { ...this.headers(), Origin: this.origin, "Content-Type": "application/json" };
    const response = await this.raw(`api/${name}`, { method: "POST", headers, body: JSON.stringify(body) });
    return answerOf(name, response);
  }

  headers(): Record<string, string> {
    return { Cookie: this.#cookie, "Sec-Fetch-Site": "same-origin" };
  }

  /** The live events, as they come. Leaving the loop closes the connection. */
  async *events(): AsyncGenerator<LiveEvent> {
    const stop = new AbortController();
    const response = await this.raw("api/events", { headers: this.headers(), signal: stop.signal });
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for await (const chunk of response.body ?? []) {
        rest += decoder.decode(chunk, { stream: true });
        const parts = rest.split("\n\n");
        rest = parts.pop() ?? "";
        for (const part of parts) {
          const [, name = "", data = "null"] = /^event: (\w+)\ndata: (.*)$/s.exec(part) ?? [];
          yield { name: name as LiveEvent["name"], data: JSON.parse(data) };
        }
      }
    } finally {
      stop.abort();
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill("SIGTERM");
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Starts the server; the client is signed in unless `signedOut`. */
export async function startView(
  repository: TemporaryRepository,
  { args = [], env = {}, signedOut = false }: StartOptions & { signedOut?: boolean } = {},
): Promise<ViewProcess> {
  const command = [executable(), "view", "--no-open", "--json", ...args];
  const view = await startViewBy(command, { cwd: repository.path, env: repository.environment(env) });
  if (!signedOut) await view.login();
  return view;
}

/** Starts the server by a whole command line; nobody is signed in. */
export async function startViewBy(
  [file = "", ...args]: readonly string[],
  options: { cwd?: string; env: Record<string, string> },
): Promise<ViewProcess> {
  const child = spawn(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const { promise: ended, resolve: end } = Promise.withResolvers<number | null>();
  child.on("exit", (code) => end(code));
  return new ViewProcess(child, await firstLine(child), ended);
}

function firstLine(child: ChildProcess): Promise<{ url: string; pid: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ url: string; pid: number }>();
  let text = "";
  let problem = "";
  child.stderr?.on("data", (data: Buffer) => {
    problem += data.toString();
  });
  child.stdout?.on("data", (data: Buffer) => {
    text += data.toString();
    const line = text.split("\n")[0];
    if (text.includes("\n") && line !== undefined) resolve(JSON.parse(line));
  });
  child.on("error", reject);
  child.on("exit", () => reject(new Error(`backtrail view ended: ${problem}`)));
  return promise;
}

async function answerOf(name: string, response: Response): Promise<never> {
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as never;
  throw new ViewError(name, response.status, text);
}

class ViewError extends Error {
  readonly status: number;

  constructor(name: string, status: number, text: string) {
    super(`${name} answered ${status}: ${text}`);
    this.status = status;
  }
}
