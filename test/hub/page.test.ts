/** The hub's page over the wire: who gets in, what a browser may be made to send, and what each person sees. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { grant } from "../../src/hub/people/people.ts";
import { revoke } from "../../src/hub/people/tokens.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { rawRequest, sendRaw } from "../support/view/raw-http.ts";
import { exampleTurn, ServedHub } from "./served.ts";

const [shop, secret] = ["example.com/shop", "example.com/secret"];

describe.skipIf(postgresPrograms === null)("the hub's page", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  const signIn = async (hub: ServedHub, client: Awaited<ReturnType<ServedHub["person"]>>["client"]) => {
    const { link } = await client.link();
    const response = await login(hub.url, link);
    expect(response.status).toBe(204);
    return (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  };
  const login = (url: string, token: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}/api/login`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url, ...headers },
      body: JSON.stringify({ token }),
    });
  const get = async <T>(hub: ServedHub, cookie: string, path: string): Promise<T> => {
    const response = await fetch(`${hub.url}/api/${path}`, { headers: { cookie } });
    expect([path, response.status]).toEqual([path, 200]);
    return (await response.json()) as T;
  };

  test("a link signs one browser in, once, until it signs out or the machine's token is revoked", async () => {
    const url = cluster.create();
    await using hub = await ServedHub.start(url, { joinsPerSecond: 100 });
    const { client } = await hub.person("ada");
    const { link } = await client.link();
    const first = await login(hub.url, link);
    const cookie = first.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^backtrail-hub=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect((await login(hub.url, link)).status).toBe(401);
    for (const token of ["", "x", null, {}, link.slice(1), "\0".repeat(43)])
      expect((await login(hub.url, token)).status).toBe(401);
    const state = (sent: string) => fetch(`${hub.url}/api/state`, { headers: { cookie: sent } });
    expect((await state(cookie.split(";")[0] ?? "")).status).toBe(200);
    for (const wrong of ["", "backtrail-hub=", `backtrail-hub=${link}`, `other=${cookie.split(/[=;]/)[1]}`])
      expect((await state(wrong)).status).toBe(401);
    // Neither the link nor the cookie is in the database.
    const stored = cluster.query(url, "SELECT b::text FROM backtrail.browsers b");
    expect(stored).toHaveLength(1);
    expect(stored[0]).not.toContain(cookie.split(/[=;]/)[1] ?? "");

    const out = await fetch(`${hub.url}/api/logout`, {
      method: "POST",
      headers: { cookie: cookie.split(";")[0] ?? "", "content-type": "application/json", origin: hub.url },
      body: "{}",
    });
    expect([out.status, (await state(cookie.split(";")[0] ?? "")).status]).toEqual([204, 401]);

    const again = await signIn(hub, client);
    expect((await state(again)).status).toBe(200);
    await revoke(hub.database, "ada");
    expect((await state(again)).status).toBe(401);
    expect(hub.log).toEqual([]);
  }, 300_000);

  test("a cookie does not work as a token, nor a token as a cookie, and the page changes nothing", async () => {
    await using hub = await ServedHub.start(cluster.create(), { joinsPerSecond: 100 });
    const { client, token } = await hub.person("ada");
    const cookie = await signIn(hub, client);
    expect((await fetch(`${hub.url}/v1/me`, { headers: { cookie } })).status).toBe(401);
    const asToken = { authorization: `Bearer ${cookie.split("=")[1]}` };
    expect((await fetch(`${hub.url}/v1/me`, { headers: asToken })).status).toBe(401);
    expect((await fetch(`${hub.url}/api/state`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
    for (const name of ["plan", "apply", "dismiss", "share", "forget", "file", "blame", "nothing", "constructor"])
      for (const method of ["GET", "POST"]) {
        const { status } = await fetch(`${hub.url}/api/${name}`, { method, headers: { cookie, origin: hub.url } });
        expect([name, method, [404, 405].includes(status)]).toEqual([name, method, true]);
      }
  }, 300_000);

  test("other hosts, origins, sites and frames get nothing", async () => {
    await using hub = await ServedHub.start(cluster.create(), { joinsPerSecond: 100 });
    const { client } = await hub.person("ada");
    const cookie = await signIn(hub, client);
    const { port, host } = new URL(hub.url);
    const send = async (method: string, path: string, changes: Record<string, string>) => {
      const usual = { Host: host, Cookie: cookie, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json" };
      const body = method === "POST" ? "{}" : "";
      return (await sendRaw(Number(port), rawRequest(method, path, { ...usual, ...changes }, body))).status;
    };
    expect(await send("GET", "/api/state", {})).toBe(200);
    for (const Host of ["evil.example", `evil.example:${port}`, "127.0.0.1", `localhost.:${port}`])
      for (const path of ["/", "/main.js", "/api/state", "/api/events", "/api/timeline"])
        expect([Host, path, await send("GET", path, { Host })]).toEqual([Host, path, 403]);
    for (const site of ["cross-site", "same-site", "none"])
      expect(await send("GET", "/api/state", { "Sec-Fetch-Site": site })).toBe(403);
    for (const destination of ["iframe", "embed", "object", "image"])
      expect(await send("GET", "/", { "Sec-Fetch-Site": "none", "Sec-Fetch-Dest": destination })).toBe(403);
    for (const Origin of ["null", "https://evil.example", `https://${host}`, `http://127.0.0.1:${Number(port) + 1}`])
      for (const path of ["/api/login", "/api/logout"]) expect(await send("POST", path, { Origin })).toBe(403);
    expect(await send("POST", "/api/logout", {})).toBe(403);
    expect(await send("POST", "/api/logout", { Origin: hub.url, "Content-Type": "text/plain" })).toBe(415);
    expect(await send("GET", "/api/logout", {})).toBe(405);

    const page = await fetch(`${hub.url}/`);
    expect(page.headers.get("x-frame-options")).toBe("DENY");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(page.headers.get("access-control-allow-origin")).toBeNull();
    expect(await page.text()).toContain('<html data-hub=""');
  }, 300_000);

  test("every screen shows what its person may see, and no more", async () => {
    const url = cluster.create();
    await using hub = await ServedHub.start(url, { joinsPerSecond: 100 });
    const ada = await hub.person("ada");
    const bob = await hub.person("bob");
    const eve = await hub.person("eve");
    const now = new Date().toISOString();
    for (const repository of [shop, secret]) {
      await ada.client.share({ repository, level: "everything", chosenAt: now });
      const turns = [1, 2].map((turn) => ({
        ...exampleTurn(`s-${repository}`, turn, "falcon"),
        startedAt: now,
        endedAt: now,
      }));
      await ada.client.turns({ repository, revision: 1, turns });
    }
    await grant(hub.database, "bob", shop, "everything");
    await grant(hub.database, "eve", shop, "counts");
    const paths = ["timeline", "teamActivity", "sessions", "repositories", "search?q=falcon"];
    const ids = cluster.query(url, "SELECT id FROM backtrail.sessions ORDER BY repository_id");
    const deep = ids.flatMap((id) => [`teamTurn?id=${id}-1`, `session?id=${id}`, `conversation?session=${id}`]);

    const all = async (cookie: string) => {
      const texts = new Map<string, string>();
      for (const path of [...paths, ...deep]) {
        const response = await fetch(`${hub.url}/api/${path}`, { headers: { cookie } });
        expect([200, 404]).toContain(response.status);
        texts.set(path, await response.text());
      }
      return texts;
    };
    const own = await all(await signIn(hub, ada.client));
    for (const [path, text] of own)
      if (path !== "repositories" && path !== "teamActivity")
        expect([path, text.includes("falcon")]).toEqual([path, true]);
    const bobs = await signIn(hub, bob.client);
    const eves = await signIn(hub, eve.client);
    for (const text of (await all(bobs)).values()) expect(text).not.toContain("example.com/secret");
    for (const text of (await all(eves)).values()) {
      expect(text).not.toContain("falcon");
      expect(text).not.toContain("example.com/secret");
    }
    const timeline = await get<{ items: object[] }>(hub, eves, "timeline");
    expect(timeline.items).toMatchObject([
      { person: "ada", prompt: null, paths: [] },
      { person: "ada", prompt: null, paths: [] },
    ]);
    expect((await get<{ hits: object[] }>(hub, bobs, "search?q=falcon")).hits).toHaveLength(2);
    const [, hidden] = ids;
    for (const path of [`teamTurn?id=${hidden}-1`, `session?id=${hidden}`])
      expect((await fetch(`${hub.url}/api/${path}`, { headers: { cookie: bobs } })).status).toBe(404);
    // A repository that may not be read is as one that does not exist.
    const [, other] = cluster.query(url, "SELECT id FROM backtrail.repositories ORDER BY id");
    for (const id of [other, "999999", "x", "-1"])
      expect((await get<{ items: object[] }>(hub, bobs, `timeline?repository=${id}`)).items).toEqual([]);
    const audited = cluster.query(url, "SELECT DISTINCT action FROM backtrail.audit WHERE action LIKE 'page %'");
    expect(audited.length).toBeGreaterThan(5);
    expect(hub.log).toEqual([]);
  }, 300_000);

  test("hostile parameters are refused or find nothing, and never make the hub fail", async () => {
    await using hub = await ServedHub.start(cluster.create(), { joinsPerSecond: 100 });
    const { client } = await hub.person("ada");
    const cookie = await signIn(hub, client);
    const queries = ["state", "repositories", "timeline", "teamTurn", "teamActivity", "sessions", "session", "search"];
    const names = ["id", "session", "repository", "before", "limit", "from", "days", "q", "agent", "fate", "__proto__"];
    const values = [
      "",
      "0",
      "-1",
      "1e9",
      "99999999999999999999",
      "\0",
      "\ud800",
      "'; DROP TABLE turns; --",
      "%",
      "a".repeat(5_000),
      "1-1",
      "9".repeat(18),
      `${"9".repeat(18)}-1`,
      Buffer.from("2026-99-99T99:99:99.999Z 1 1").toString("base64url"),
      Buffer.from("9999-12-31T23:59:59.999Z 999999999999999999 999999999").toString("base64url"),
    ];
    for (const query of [...queries, "conversation", "lines"])
      for (const name of names)
        await Promise.all(
          values.map(async (value) => {
            const parameters = new URLSearchParams({
              id: "1-1",
              session: "1",
              q: "word",
              [name]: value.toWellFormed(),
            });
            const response = await fetch(`${hub.url}/api/${query}?${parameters}`, { headers: { cookie } });
            if (response.status >= 500) expect([query, name, value, response.status]).toEqual([]);
            await response.body?.cancel();
          }),
        );
    expect(hub.log).toEqual([]);
  }, 300_000);

  test("pages of the timeline follow each other without gaps", async () => {
    await using hub = await ServedHub.start(cluster.create(), { joinsPerSecond: 100 });
    const { client } = await hub.person("ada");
    await client.share({ repository: shop, level: "prompts", chosenAt: new Date().toISOString() });
    const turns = Array.from({ length: 45 }, (_, i) => exampleTurn("long", i + 1));
    await client.turns({ repository: shop, revision: 1, turns });
    const cookie = await signIn(hub, client);
    const seen: string[] = [];
    let before = "";
    do {
      const page = await get<{ items: { id: string }[]; next: string | null }>(
        hub,
        cookie,
        `timeline?limit=20&before=${before}`,
      );
      seen.push(...page.items.map(({ id }) => id));
      before = page.next ?? "";
    } while (before !== "");
    expect([seen.length, new Set(seen).size]).toEqual([45, 45]);
  }, 300_000);

  test("a stream ends when the machine's token is revoked, and shows no changes of others", async () => {
    await using hub = await ServedHub.start(cluster.create(), { joinsPerSecond: 100 });
    const ada = await hub.person("ada");
    const eve = await hub.person("eve");
    const read = async (cookie: string) => {
      const response = await fetch(`${hub.url}/api/events`, { headers: { cookie } });
      let text = "";
      for await (const part of response.body ?? []) text += new TextDecoder().decode(part);
      return text;
    };
    const streams = [read(await signIn(hub, ada.client)), read(await signIn(hub, eve.client))];
    await ada.client.share({ repository: shop, level: "counts", chosenAt: new Date().toISOString() });
    for (let i = 1; i <= 3; i++) {
      await ada.client.turns({ repository: shop, revision: i, turns: [{ ...exampleTurn("s", 1), apiCalls: i }] });
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    for (const name of ["ada", "eve"]) await revoke(hub.database, name);
    const { client: bob } = await hub.person("bob");
    await bob.share({ repository: shop, level: "counts", chosenAt: new Date().toISOString() });
    await bob.turns({ repository: shop, revision: 1, turns: [exampleTurn("of bob", 1)] });
    const [adas, eves] = await Promise.all(streams);
    expect(adas).toContain("event: hello");
    expect(adas).toContain("event: changed");
    expect(eves).toContain("event: hello");
    expect(eves).not.toContain("event: changed");
  }, 300_000);
});
