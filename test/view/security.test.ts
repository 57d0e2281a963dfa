/** Attacks on a running viewer by its headers, its token and its cookie. SECURITY.md says where the other rules are attacked. */
import { describe, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { temporaryRepository } from "../support/index.ts";
import { rawRequest, sendRaw } from "../support/view/raw-http.ts";
import { startView } from "../support/view/server.ts";
import { servedForAll } from "./recorded.ts";

const served = servedForAll();

const port = () => Number(new URL(served.view.url).port);
function path(name: string): string {
  const { pathname, search } = new URL(name, served.view.base);
  return pathname + search;
}

const PATHS = ["", "main.js", "api/state", "api/events", "api/login", "api/plan", "nothing", "../"];

/** What a signed-in page sends with a GET, changed by `changes`. */
function headers(changes: Record<string, string | undefined> = {}): Record<string, string> {
  const all = { Host: `127.0.0.1:${port()}`, Cookie: served.view.cookie, "Sec-Fetch-Site": "same-origin", ...changes };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

async function get(name: string, changes: Record<string, string | undefined> = {}) {
  return sendRaw(port(), rawRequest("GET", path(name), headers(changes)));
}

async function post(name: string, changes: Record<string, string | undefined> = {}, body = '{"action":"redo"}') {
  const usual = { Origin: served.view.origin, "Content-Type": "application/json" };
  return sendRaw(port(), rawRequest("POST", path(name), headers({ ...usual, ...changes }), body));
}

test("what the page sends is answered, or the tests below would prove nothing", async () => {
  expect((await get("api/state")).status).toBe(200);
  expect((await get("", { "Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "document" })).status).toBe(200);
  // There is nothing to redo.
  expect((await post("api/plan")).status).toBe(404);
});

describe("the network", () => {
  test("only loopback listens", async () => {
    const addresses = Object.values(networkInterfaces()).flat();
    const others = addresses.filter((address) => address && !address.internal && address.family === "IPv4");
    for (const { address } of others.flatMap((one) => one ?? []))
      expect(sendRaw(port(), rawRequest("GET", "/", { Host: address }), address)).rejects.toThrow();
  });

  test("DNS rebinding: another host name is refused on every path", async () => {
    const hosts = [
      "evil.example",
      `evil.example:${port()}`,
      `127.0.0.1:${port() + 1}`,
      "127.0.0.1",
      `127.0.0.1.:${port()}`,
    ];
    hosts.push(`127.0.0.1:${port()}.evil.example`, `localhost.:${port()}`, `2130706433:${port()}`, `0.0.0.0:${port()}`);
    hosts.push(`[::ffff:127.0.0.1]:${port()}`, `[::1%25lo]:${port()}`, `[::]:${port()}`, `127.1:${port()}`);
    hosts.push(`127.0.0.1:0${port()}`, `user@127.0.0.1:${port()}`, `127.0.0.1:${port()}, evil.example`, "");
    for (const Host of hosts)
      for (const name of PATHS) expect([Host, name, (await get(name, { Host })).status]).toEqual([Host, name, 403]);
  });

  test("a request line with a full address, as proxies get it, does not replace Host", async () => {
    const { pathname } = new URL("api/state", served.view.base);
    for (const address of [served.view.origin, "http://evil.example", "file://"]) {
      const request = rawRequest("GET", address + pathname, headers({ Host: "evil.example" }));
      expect([400, 403]).toContain((await sendRaw(port(), request)).status);
    }
    const other = rawRequest("GET", "file:///etc/hostname", headers());
    expect((await sendRaw(port(), other)).status).toBe(400);
  });

  test("only GET and POST are answered, and no header makes the one the other", async () => {
    for (const method of ["PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND"])
      for (const name of ["", "api/state", "api/plan"]) {
        const { status } = await sendRaw(
          port(),
          rawRequest(method, path(name), headers({ Origin: served.view.origin })),
        );
        expect([method, name, [400, 405].includes(status)]).toEqual([method, name, true]);
      }
    const overridden = { Origin: served.view.origin, "X-HTTP-Method-Override": "POST" };
    expect((await get("api/plan?_method=POST", overridden)).status).toBe(405);
  });

  test("a request without a host name, or with two, is refused", async () => {
    const { pathname } = new URL("api/state", served.view.base);
    const none = await sendRaw(port(), `GET ${pathname} HTTP/1.0\r\nCookie: ${served.view.cookie}\r\n\r\n`);
    expect([400, 403]).toContain(none.status);
    const two = `GET ${pathname} HTTP/1.1\r\nHost: evil.example\r\nHost: 127.0.0.1:${port()}\r\nCookie: ${served.view.cookie}\r\nConnection: close\r\n\r\n`;
    expect([400, 403]).toContain((await sendRaw(port(), two)).status);
  });
});

describe("other sites", () => {
  test("a request from another origin is refused, also without one or with null", async () => {
    const origins = ["http://evil.example", "null", `http://127.0.0.1:${port() + 1}`, `https://127.0.0.1:${port()}`];
    for (const Origin of [...origins, `http://localhost:${port()}`, `http://127.0.0.1:${port()}.evil.example`]) {
      expect([Origin, (await post("api/plan", { Origin })).status]).toEqual([Origin, 403]);
      expect([Origin, (await get("api/state", { Origin })).status]).toEqual([Origin, 403]);
      expect([Origin, (await get("api/events", { Origin })).status]).toEqual([Origin, 403]);
    }
    expect((await post("api/plan", { Origin: undefined })).status).toBe(403);
    expect((await post("api/login", { Origin: undefined })).status).toBe(403);
  });

  test("Fetch Metadata of another site is refused on every path", async () => {
    for (const site of ["cross-site", "same-site", "strange"])
      for (const name of PATHS)
        expect([site, name, (await get(name, { "Sec-Fetch-Site": site })).status]).toEqual([site, name, 403]);
    expect((await get("api/state", { "Sec-Fetch-Site": "none" })).status).toBe(403);
  });

  test("nothing can be embedded", async () => {
    for (const destination of ["iframe", "frame", "embed", "object", "image", "script"])
      expect((await get("api/state", { "Sec-Fetch-Dest": destination })).status).toBe(403);
    for (const destination of ["iframe", "frame", "embed", "object"])
      expect((await get("", { "Sec-Fetch-Dest": destination })).status).toBe(403);
  });

  test("a form, or JSON that says to be text, changes nothing", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])
      expect([type, (await post("api/plan", { "Content-Type": type })).status]).toEqual([type, 415]);
    expect((await get("api/plan")).status).toBe(405);
    expect((await get("api/apply?plan=x")).status).toBe(405);
  });

  test("no preflight is answered and no answer allows another origin", async () => {
    const preflight = rawRequest("OPTIONS", path("api/plan"), headers({ Origin: "http://evil.example" }));
    const answers = [await sendRaw(port(), preflight), await get("api/state"), await get("")];
    expect(answers[0]?.status).toBe(405);
    for (const { head } of answers) expect(head.toLowerCase()).not.toContain("access-control-");
  });

  test("no connection is upgraded to a WebSocket", async () => {
    const upgrade = {
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    };
    for (const name of PATHS) expect((await get(name, upgrade)).status).toBe(400);
  });

  test("every answer forbids inline code, other sites, frames and referrers", async () => {
    for (const answer of [
      await get(""),
      await get("main.js"),
      await get("api/state"),
      await get("nothing"),
      await get("", { Host: "x" }),
    ]) {
      const head = answer.head.toLowerCase();
      expect(head).toContain("default-src 'none'");
      expect(head).toContain("frame-ancestors 'none'");
      expect(head).not.toContain("unsafe-");
      for (const line of [
        "x-frame-options: deny",
        "referrer-policy: no-referrer",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
      ])
        expect(head).toContain(line);
    }
  });
});

describe("the token and the cookie", () => {
  test("nothing is answered without the cookie, or with a wrong one", async () => {
    const [name = ""] = served.view.cookie.split("=");
    for (const Cookie of [
      undefined,
      "",
      `${name}=`,
      `${name}=${"0".repeat(64)}`,
      `x${served.view.cookie}`,
      served.view.cookie.slice(0, -1),
    ])
      for (const query of ["api/state", "api/timeline", "api/events", "api/file?step=x&path=y"])
        expect((await get(query, { Cookie })).status).toBe(401);
    expect((await post("api/plan", { Cookie: undefined })).status).toBe(401);
  });

  test("the token works once, and a wrong one never", async () => {
    const again = await served.view.login();
    expect([again.status, again.headers.get("set-cookie")]).toEqual([401, null]);
    await using fresh = await startView(served.made.repository, { signedOut: true });
    for (const token of ["", "x", fresh.token.slice(0, -1), `${fresh.token}0`, served.view.token])
      expect((await fresh.login(token)).status).toBe(401);
    for (const body of ["{}", "[]", '{"token":null}', '{"token":["x"]}', "not json", '{"token":{"length":64}}']) {
      const init = { method: "POST", headers: { Origin: fresh.origin, "Content-Type": "application/json" }, body };
      expect((await fresh.raw("api/login", init)).status).toBe(401);
    }
    const right = await fresh.login();
    expect(right.status).toBe(204);
    const cookie = right.headers.get("set-cookie") ?? "";
    expect(cookie).toContain("HttpOnly");
    expect(cookie).toContain("SameSite=Strict");
    expect(cookie).toContain(`Path=${new URL(fresh.base).pathname}`);
  });

  test("the token is only in the fragment, which browsers never send", async () => {
    const { pathname, search, hash } = new URL(served.view.url);
    expect(hash).toMatch(/^#token=[0-9a-f]{64}$/);
    expect(pathname + search).not.toContain(served.view.token);
    const seen = (await get("")).body + (await get("main.js")).body + (await get("api/state")).body;
    expect(seen).not.toContain(served.view.token);
  });

  test("the cookie of one server opens no other", async () => {
    using other = temporaryRepository();
    await other.run(["enable", "--agent", "claude-code"]);
    await using second = await startView(other);
    const stranger = await second.raw("api/state", { headers: { Cookie: served.view.cookie } });
    expect(stranger.status).toBe(401);
    // The same value under the other server's name.
    const renamed = `${second.cookie.split("=")[0]}=${served.view.cookie.split("=")[1]}`;
    expect((await second.raw("api/state", { headers: { Cookie: renamed } })).status).toBe(401);
    expect(new URL(second.base).pathname).not.toBe(new URL(served.view.base).pathname);
  });

  test("whoever does not know the address finds nothing at the port", async () => {
    for (const place of ["/", "/index.html", "/api/state", "/api/login", `/${"0".repeat(16)}/`, "/main.js"]) {
      const { status, body } = await sendRaw(port(), rawRequest("GET", place, headers()));
      expect([403, 404]).toContain(status);
      expect(body).not.toContain("<script");
    }
  });
});

describe("sizes and names", () => {
  test("a body, an address or a header that is too large is refused", async () => {
    const large = JSON.stringify({ action: "save", name: "x".repeat(100_000) });
    expect((await post("api/plan", {}, large)).status).toBe(413);
    expect((await get(`api/state?x=${"y".repeat(9_000)}`)).status).toBe(414);
    expect([400, 413, 431]).toContain((await get("api/state", { "X-Long": "z".repeat(200_000) })).status);
    expect((await get("api/state")).status).toBe(200);
  });

  test("a body with two lengths, or a false length, does not smuggle a second request", async () => {
    const second = rawRequest("GET", path("api/state"), headers());
    const twice = `POST ${path("api/plan")} HTTP/1.1\r\nHost: 127.0.0.1:${port()}\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n${second}`;
    const answer = await sendRaw(port(), twice);
    expect(answer.status).not.toBe(200);
    expect(answer.body).not.toContain('"instance"');
  });

  test("a path that leads out of the page's files finds nothing", async () => {
    const base = new URL(served.view.base).pathname;
    for (const place of [
      "../../etc/passwd",
      "%2e%2e/%2e%2e/etc/passwd",
      "..%2f..%2fetc/passwd",
      "main.js/../../x",
      "//etc/passwd",
      "main.js%00.css",
    ]) {
      const { status, body } = await sendRaw(port(), rawRequest("GET", base + place, headers()));
      expect([400, 403, 404]).toContain(status);
      expect(body).not.toContain("root:");
    }
  });

  test("names of the prototype are neither queries nor commands", async () => {
    for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      expect((await get(`api/${name}`)).status).toBe(404);
      expect((await get("api/file", {})).status).toBe(400);
    }
    expect((await get("api/state?repository=__proto__")).status).toBe(404);
    expect((await get("api/state?repository=/etc")).status).toBe(404);
  });
});
