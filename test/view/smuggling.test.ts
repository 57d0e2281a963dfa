/** Requests whose length is said twice, wrongly or in a strange way: none hides a second request, none stops the server. */
import { expect, test } from "bun:test";
import { rawRequest, sendRaw } from "../support/view/raw-http.ts";
import { servedForAll } from "./recorded.ts";

const served = servedForAll();

const port = () => Number(new URL(served.view.url).port);
const path = (name: string) => new URL(name, served.view.base).pathname;

/** What would be smuggled: a command, as the page sends it. Its plan does not exist, so it answers 404. */
function hidden(): string {
  return rawRequest("POST", path("api/apply"), signedIn(), '{"plan":"x"}');
}

function signedIn(): Record<string, string> {
  const from = { Host: `127.0.0.1:${port()}`, Origin: served.view.origin };
  return { ...from, Cookie: served.view.cookie, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json" };
}

/** A request of another origin, which the server refuses, with a hidden one in or after its body. */
function carrying(lengths: readonly string[], body: string): string {
  const head = [`POST ${path("api/plan")} HTTP/1.1`, `Host: 127.0.0.1:${port()}`, "Origin: http://evil.example"];
  return [...head, "Content-Type: text/plain", ...lengths, "", body].join("\r\n");
}

/** How many answers came, and their statuses. */
async function statuses(request: string): Promise<number[]> {
  const { head, body } = await sendRaw(port(), request);
  return [...`${head}\r\n\r\n${body}`.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

test("the hidden request would be answered if it were sent alone", async () => {
  expect(await statuses(hidden())).toEqual([404]);
});

const DISAGREEING: Record<string, string[]> = {
  "two lengths": ["Content-Length: 0", "Content-Length: 5"],
  "a length and chunks": ["Content-Length: 5", "Transfer-Encoding: chunked"],
  "chunks and a length": ["Transfer-Encoding: chunked", "Content-Length: 5"],
  "a list of lengths": ["Content-Length: 0, 5"],
  "a signed length": ["Content-Length: +0"],
  "a negative length": ["Content-Length: -1"],
  "a hexadecimal length": ["Content-Length: 0x0"],
  "a length with a letter": ["Content-Length: 0a"],
  "a huge length": ["Content-Length: 18446744073709551616"],
  "an unknown coding": ["Transfer-Encoding: xchunked"],
  "a coding after chunks": ["Transfer-Encoding: chunked, identity"],
  "a space before the colon": ["Content-Length : 5", "Content-Length: 0"],
  "a folded header": ["X-Long: a", " Content-Length: 5", "Content-Length: 0"],
};

for (const [name, lengths] of Object.entries(DISAGREEING))
  test(`${name}: the request is refused, and what follows it is not answered as the page's`, async () => {
    for (const body of [`0\r\n\r\n${hidden()}`, hidden()]) {
      const answered = await statuses(carrying([...lengths, "Connection: close"], body));
      expect(answered.filter((status) => status === 404 || status === 200)).toEqual([]);
      expect(answered.length).toBeLessThanOrEqual(1);
    }
    expect((await served.view.get("state")).readOnly).toBe(false);
  });

const CHUNKS: Record<string, string> = {
  "a size that overflows": "10000000000000000\r\nx\r\n0\r\n\r\n",
  "a negative size": "-1\r\nx\r\n0\r\n\r\n",
  "a size that is no number": "zz\r\nx\r\n0\r\n\r\n",
  "a size with an endless extension": `1;${"e".repeat(200_000)}\r\nx\r\n0\r\n\r\n`,
  "a body larger than any request": `20000\r\n${"x".repeat(0x20000)}\r\n0\r\n\r\n`,
};

for (const [name, chunks] of Object.entries(CHUNKS))
  test(`chunks with ${name} are refused`, async () => {
    const lines = Object.entries(signedIn()).map(([key, value]) => `${key}: ${value}`);
    const head = [`POST ${path("api/plan")} HTTP/1.1`, ...lines, "Transfer-Encoding: chunked", "Connection: close"];
    const answered = await statuses([...head, "", chunks].join("\r\n"));
    expect(answered.filter((status) => status < 400)).toEqual([]);
    expect((await served.view.get("state")).readOnly).toBe(false);
  });

test("of two requests on one connection, each is judged by its own headers", async () => {
  const open = ({ Connection: _, ...headers }: Record<string, string>) => headers;
  const first = rawRequest("GET", path("api/state"), signedIn()).replace("Connection: close\r\n", "");
  const second = rawRequest("GET", path("api/state"), { ...open(signedIn()), Host: "evil.example" });
  expect(await statuses(first + second)).toEqual([200, 403]);
  const stranger = rawRequest("GET", path("api/state"), { Host: `127.0.0.1:${port()}` });
  expect(await statuses(first + stranger)).toEqual([200, 401]);
});

test("a missing body, or an endless head, does not delay other requests", async () => {
  const { connect } = await import("node:net");
  const waiting = [
    carrying(["Content-Length: 60000"], "{"),
    `GET ${path("api/state")} HTTP/1.1\r\nHost: 127.0.0.1:${port()}\r\nX-Slow: `,
  ].flatMap((text) => Array.from({ length: 20 }, () => text));
  const sockets = waiting.map((text) => {
    const socket = connect({ port: port(), host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.on("connect", () => socket.write(text));
    return socket;
  });
  try {
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
    expect((await served.view.get("state")).readOnly).toBe(false);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});
