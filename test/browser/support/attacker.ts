/** The other side of an attack: a hostile site on loopback, and an unguarded server on which its attacks succeed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Frame, Page } from "playwright-core";

export const HOSTILE_PAGE = readFileSync(join(import.meta.dirname, "hostile.html"), "utf8");

/** Chromium resolves these names to 127.0.0.1: see browser.ts. */
export const EVIL = "evil.example";
export const REBOUND = "rebound.example";

const HTML = { "Content-Type": "text/html; charset=utf-8" };
const PATIENCE_MS = 60_000;

/** What each attempt of the page got; null for nothing. */
export type Loot = Record<string, string | null>;

export interface Site extends AsyncDisposable {
  port: number;
  /** Every request, with all headers, as text. */
  heard: string[];
}

export interface Goal {
  base: string;
  token?: string;
}

/** The path of the hostile page on its own server. */
export function attackPath({ base, token = "" }: Goal): string {
  return `/hostile?${new URLSearchParams({ target: base, token })}`;
}

/** Serves the hostile page, the same page in a sandboxed frame, whose origin is `null`, and harmless ones. */
export function hostileSite(): Site {
  const heard: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      heard.push(`${request.method} ${request.url}\n${JSON.stringify(request.headers)}`);
      const { pathname, search } = new URL(request.url);
      if (pathname === "/hostile") return new Response(HOSTILE_PAGE, { headers: HTML });
      const address = `/hostile${search.replaceAll("&", "&amp;")}`;
      const frame = `<iframe sandbox="allow-scripts allow-forms" src="${address}"></iframe>`;
      const icon = '<link rel="icon" href="data:,">';
      return new Response(`<!doctype html>${icon}${pathname === "/sandboxed" ? frame : "Hello."}`, { headers: HTML });
    },
  });
  return { port: server.port ?? 0, heard, [Symbol.asyncDispose]: () => server.stop(true) };
}

export interface Unguarded extends Site {
  base: string;
  /** Requests that would have changed something. */
  changes: string[];
}

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** As careless as some: answers everybody, allows every origin, upgrades every connection. */
export function unguardedServer(): Unguarded {
  const heard: string[] = [];
  const changes: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request, self) {
      const { pathname } = new URL(request.url);
      const allowed = {
        "Access-Control-Allow-Origin": request.headers.get("origin") ?? "*",
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Allow-Headers": "content-type",
      };
      heard.push(`${request.method} ${pathname}`);
      if (request.method === "POST") changes.push(`${pathname} ${await request.text()}`);
      if (self.upgrade(request)) return undefined;
      const [type, body] = answerTo(pathname);
      return new Response(body, { headers: { ...allowed, "Content-Type": type } });
    },
    websocket: { message() {} },
  });
  const base = `http://127.0.0.1:${server.port}/known/`;
  return { base, port: server.port ?? 0, heard, changes, [Symbol.asyncDispose]: () => server.stop(true) };
}

function answerTo(pathname: string): [string, string | Buffer] {
  if (pathname.endsWith("/events")) return ["text/event-stream", "event: hello\ndata: {}\n\n"];
  if (pathname.endsWith(".js")) return ["text/javascript", "export {};"];
  if (pathname.endsWith(".css")) return ["text/css", ""];
  if (pathname.endsWith(".png")) return ["image/png", PIXEL];
  if (pathname.includes("/api/")) return ["application/json", "[]"];
  return ["text/html", "<!doctype html><script src=main.js></script>"];
}

/** Waits until every attempt has ended. */
export async function lootOf(frame: Page | Frame): Promise<Loot> {
  await frame.waitForFunction("window.loot !== undefined", undefined, { timeout: PATIENCE_MS });
  return (await frame.evaluate("window.loot")) as Loot;
}

/** The attempts that got something. */
export function taken(loot: Loot): string[] {
  return Object.entries(loot).flatMap(([attempt, got]) => (got === null ? [] : [`${attempt}: ${got}`]));
}
