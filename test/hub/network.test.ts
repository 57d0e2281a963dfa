/** A bad network between a machine and the hub, and between the hub and its database: nothing is lost, nothing twice. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HubClient, type HubError } from "../../src/team/client.ts";
import { Random } from "../fuzz/random.ts";
import { ScriptedClaude, write } from "../support/index.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { TcpProxy } from "./proxy.ts";
import { exampleTurn, ServedHub } from "./served.ts";
import { status, Team, until } from "./team.ts";

const repository = "example.com/shop";
const share = () => ({ repository, level: "everything" as const, chosenAt: new Date().toISOString() });
const failure = (request: Promise<unknown>) =>
  request.then(
    () => null,
    (error: unknown) => error as HubError,
  );

describe.skipIf(postgresPrograms === null)("a bad network", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  test("cut at random bytes between machine and hub: every turn arrives once", async () => {
    await using team = await Team.start(cluster);
    await using proxy = await TcpProxy.start(team.url);
    const ada = await team.machine();
    const link = await team.invite("ada");
    await ada.json(["team", "join", link.replace(team.url, proxy.through(team.url)), "--device", "laptop"]);
    const claude = new ScriptedClaude(ada);
    const source = new Random(9);
    let failed = 0;
    for (let i = 1; i <= 6; i++) {
      await claude.turn(`Prompt ${i}`, [write(`${i}.txt`, `${i}\n`)]);
      proxy.cutAfter(source.below(3_000));
      const { code } = await ada.run(["team", "send"]);
      if (code !== 0) {
        failed++;
        const { waiting, failure } = await status(ada);
        expect(waiting.turns).toBeGreaterThan(0);
        expect(failure?.kind).toBe("unreachable");
      }
      proxy.restore();
    }
    expect(failed).toBeGreaterThan(0);
    await ada.json(["team", "send"]);
    expect(await status(ada)).toMatchObject({ waiting: { turns: 0 }, failure: null });
    expect(team.rows("SELECT count(*), count(DISTINCT (session_id, number)) FROM backtrail.turns")).toEqual(["6|6"]);
  }, 300_000);

  test("stalled between machine and hub: the machine gives up, and the next attempt works", async () => {
    await using hub = await ServedHub.start(cluster.create());
    await using proxy = await TcpProxy.start(hub.url);
    const { token } = await hub.person("ada");
    proxy.stall();
    const hurried = new HubClient(proxy.through(hub.url), token, { timeoutMs: 200 });
    expect((await failure(hurried.share(share())))?.kind).toBe("unreachable");
    proxy.restore();
    const client = new HubClient(proxy.through(hub.url), token);
    await client.share(share());
    expect(await client.turns({ repository, revision: 1, turns: [exampleTurn("s", 1)] })).toMatchObject({ stored: 1 });
  }, 300_000);

  test("stalled and cut between hub and database: 503 with a time to try again, a line in the log, then it works", async () => {
    const url = cluster.create();
    await using proxy = await TcpProxy.start(url);
    await using hub = await ServedHub.start(proxy.through(url), { database: { timeoutMs: 1_000 } });
    const { client, token } = await hub.person("ada");
    await client.share(share());
    const turns = [exampleTurn("s", 1)];
    proxy.stall();
    const response = await fetch(`${hub.url}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(hub.log).toMatchObject([{ status: 503, path: "/v1/me" }]);
    proxy.restore();
    await until(async () => (await failure(client.turns({ repository, revision: 1, turns }))) === null);
    const source = new Random(10);
    for (let i = 0; i < 10; i++) {
      proxy.cutAfter(source.below(4_000));
      const error = await failure(client.turns({ repository, revision: 2 + i, turns: [exampleTurn("s", 2 + i)] }));
      if (error) expect([error.kind, error.answer]).toEqual(["busy", "busy"]);
      proxy.restore();
      await until(
        async () =>
          (await failure(client.turns({ repository, revision: 2 + i, turns: [exampleTurn("s", 2 + i)] }))) === null,
      );
    }
    expect(cluster.query(url, "SELECT count(*), count(DISTINCT number) FROM backtrail.turns")).toEqual(["11|11"]);
    // The hub's own task may have met the cut connection, too.
    expect(hub.log.filter(({ status, task }) => status !== 503 && task !== "pending-words")).toEqual([]);
  }, 300_000);

  test("live activity continues after the database was down, also if it was down when the first stream opened", async () => {
    const url = cluster.create();
    await using proxy = await TcpProxy.start(url);
    await using hub = await ServedHub.start(proxy.through(url), { database: { timeoutMs: 1_000 } });
    const { client, token } = await hub.person("ada");
    await client.share(share());
    proxy.cutAfter(0);
    const refused = await fetch(`${hub.url}/v1/live`, { headers: { authorization: `Bearer ${token}` } });
    expect(refused.status).toBe(503);
    proxy.restore();
    const stop = new AbortController();
    const seen: number[] = [];
    const follow = async () => {
      for await (const { turn } of client.live(stop.signal)) seen.push(turn);
    };
    await until(async () => (await failure(client.me())) === null);
    const following = follow().catch(() => {});
    const send = async (number: number) => {
      let revision = number * 1_000;
      await until(async () => {
        const turn = { ...exampleTurn("s", number), apiCalls: ++revision };
        await failure(client.turns({ repository, revision, turns: [turn] }));
        return seen.includes(number);
      });
    };
    await send(1);
    // All connections of the hub end, that of its listener included.
    proxy.restore();
    await send(2);
    stop.abort();
    await following;
    expect(hub.log.filter(({ status }) => status === 500)).toEqual([]);
  }, 300_000);

  test("a request with an invalid address is refused", async () => {
    await using hub = await ServedHub.start(cluster.create());
    for (const host of ["[", "a b", "%zz", "x:99999999"]) {
      const { promise, resolve } = Promise.withResolvers<string>();
      const socket = await Bun.connect({
        hostname: "127.0.0.1",
        port: Number(new URL(hub.url).port),
        socket: { data: (_, data) => resolve(data.toString()), close: () => resolve("closed") },
      });
      socket.write(`GET /v1/me HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(await promise).toMatch(/^(?:HTTP\/1\.1 4|closed)/);
      socket.end();
    }
    expect(hub.log).toEqual([]);
  }, 300_000);
});
