/** Hostile requests: whatever comes in, the hub neither fails without a line in its log nor touches other people's rows. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MAX_BODY_BYTES } from "../../src/team/protocol.ts";
import { Random } from "../fuzz/random.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { exampleTurn, ServedHub } from "./served.ts";

/** `HOSTILE_REQUESTS=10000` for a long run. */
const REQUESTS = Number(process.env["HOSTILE_REQUESTS"] ?? 2_000);
const AT_ONCE = 8;
const ROUTES = [
  "join",
  "me",
  "share",
  "turns",
  "forget",
  "checkpoint",
  "search",
  "activity",
  "device/..",
  "turns%00",
  "../v1/me",
];
const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1e308,
  2 ** 53,
  0.5,
  "",
  "\0",
  "\ud800",
  "'; DROP TABLE backtrail.turns; --",
  "a".repeat(40_000),
  "../../etc/passwd",
  "everything",
  "9999-12-31T23:59:59Z",
  "-4713-01-01T00:00:00Z",
  "2026-01-05T10:00:00+99:99",
  [],
  {},
  [[[[]]]],
  { constructor: 1 },
  "‮",
  "%",
  "\\",
];

describe.skipIf(postgresPrograms === null)("hostile requests", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  test("change nothing of other people's, and never fail silently", async () => {
    const url = cluster.create();
    await using hub = await ServedHub.start(url);
    const victim = await hub.person("victim");
    const attacker = await hub.person("attacker");
    const share = { repository: "example.com/shop", level: "everything", chosenAt: new Date().toISOString() } as const;
    for (const { client } of [victim, attacker]) await client.share(share);
    const own = [1, 2, 3].map((turn) => exampleTurn("secret-session", turn, "falcon"));
    await victim.client.turns({ repository: "example.com/shop", revision: 1, turns: own });
    const rows = () =>
      cluster.query(
        url,
        "SELECT t::text FROM backtrail.turns t WHERE person_id = 1 UNION ALL SELECT x::text FROM backtrail.turn_texts x WHERE person_id = 1 UNION ALL SELECT m::text FROM backtrail.messages m WHERE person_id = 1 ORDER BY 1",
      );
    const before = rows();
    expect(before).toHaveLength(9);

    const source = new Random(1818);
    const answers: { status: number; text: string }[] = [];
    for (let at = 0; at < REQUESTS; at += AT_ONCE)
      answers.push(
        ...(await Promise.all(Array.from({ length: AT_ONCE }, () => hostile(hub.url, attacker.token, source)))),
      );
    const failures = answers.filter(({ status }) => status >= 500);
    expect(failures.filter(({ status }) => status === 500)).toEqual([]);
    expect(hub.log).toHaveLength(failures.length);
    expect(answers.filter(({ text }) => text.includes("falcon"))).toEqual([]);
    expect(rows()).toEqual(before);
    // The hub is still at work, and some of the requests got through all checks.
    expect((await victim.client.me()).person).toBe("victim");
    expect(answers.filter(({ status }) => status < 300).length).toBeGreaterThan(10);
  }, 300_000);

  test("a body that is too large, of another type or version is refused", async () => {
    await using hub = await ServedHub.start(cluster.create());
    const { token } = await hub.person("ada");
    const post = (body: string, headers: Record<string, string> = {}) =>
      fetch(`${hub.url}/v1/turns`, {
        method: "POST",
        body,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      });
    expect((await post(`"${"x".repeat(MAX_BODY_BYTES)}"`)).status).toBe(413);
    expect((await post("{}", { "content-type": "text/plain" })).status).toBe(415);
    expect((await post("{")).status).toBe(400);
    expect((await post("{}")).status).toBe(422);
    expect((await post("{}", { "backtrail-protocol": "2" })).status).toBe(426);
    expect((await post("{}", { authorization: "Bearer btd_x" })).status).toBe(401);
    expect((await post(JSON.stringify({ repository: "never/shared", revision: 1, turns: [] }))).status).toBe(409);
    expect((await fetch(`${hub.url}/v1/nothing`)).status).toBe(404);
    // A newer client may send fields that this hub does not know.
    expect(
      (await post(JSON.stringify({ repository: "never/shared", revision: 1, turns: [], mood: "good" }))).status,
    ).toBe(409);
  }, 300_000);

  test("a stranger gets nothing but a refusal, and soon has to wait", async () => {
    await using hub = await ServedHub.start(cluster.create());
    const statuses = new Set<number>();
    for (let i = 0; i < 60; i++) {
      const response = await fetch(`${hub.url}/v1/join`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ invitation: `bti_${i}`, device: "x" }),
      });
      statuses.add(response.status);
    }
    expect([...statuses].sort()).toEqual([403, 429]);
  }, 300_000);
});

async function hostile(url: string, token: string, source: Random): Promise<{ status: number; text: string }> {
  const route = source.pick(ROUTES);
  const isRead = chance(source, 0.4);
  const parameters = ["q", "repository", "person", "after", "limit", "from", "to", "id"].map(
    (name) => `${name}=${encodeURIComponent(String(source.pick(VALUES)).toWellFormed().slice(0, 600))}`,
  );
  const path = `/v1/${route}${isRead ? `?${parameters.filter(() => chance(source, 0.6)).join("&")}` : ""}`;
  const bodies = {
    share: { repository: "example.com/shop", level: "counts", chosenAt: "2026-01-05T10:00:00.000Z" },
    forget: { sessions: [exampleTurn("secret-session", 1).session, exampleTurn("own", 1).session] },
    join: { invitation: "bti_x", device: "x" },
  };
  const usual = {
    repository: "example.com/shop",
    revision: 5,
    turns: [exampleTurn(source.pick(["secret-session", "own"]), 2)],
  };
  const body = damaged(bodies[route as keyof typeof bodies] ?? usual, source);
  const response = await fetch(url + path, {
    method: isRead ? "GET" : source.pick(["POST", "POST", "POST", "PUT", "DELETE"]) === "DELETE" ? "PATCH" : "POST",
    headers: {
      authorization: chance(source, 0.95) ? `Bearer ${token}` : "Bearer btd_aaaaaaaaaaaa_x",
      "content-type": "application/json",
    },
    ...(isRead ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

/** Replaces some values anywhere in a document by hostile ones. */
function damaged(value: unknown, source: Random): unknown {
  if (chance(source, 0.06)) return source.pick(VALUES);
  if (Array.isArray(value))
    return chance(source, 0.03) ? Array(600).fill(value[0]) : value.map((item) => damaged(item, source));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, damaged(item, source)]));
}

function chance(source: Random, share: number): boolean {
  return source.below(1_000) < share * 1_000;
}
