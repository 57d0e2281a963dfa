/**
 * The database, the hub and the client are killed again and again while turns are sent: in the end the hub has every
 * turn exactly once.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Random } from "../fuzz/random.ts";
import { runBinary } from "../support/binary.ts";
import { ScriptedClaude, write } from "../support/index.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { exampleTurn, ServedHub } from "./served.ts";
import { status, Team, until } from "./team.ts";

/** `KILLS=100` for a long run. */
const KILLS = Number(process.env["KILLS"] ?? 4);

describe.skipIf(postgresPrograms === null)("kills during ingest", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  const onceEach = (team: Team) =>
    team.rows("SELECT t.number, count(*) FROM backtrail.turns t GROUP BY t.session_id, t.number HAVING count(*) <> 1");

  test("of the client, at its own moments and at random ones: nothing is lost, nothing twice", async () => {
    await using team = await Team.start(cluster);
    const ada = await team.member("ada");
    await ada.json(["team", "share", "everything"]);
    const claude = new ScriptedClaude(ada);
    const source = new Random(6);
    for (let i = 1; i <= KILLS; i++) {
      await claude.turn(`Prompt ${i}`, [write(`${i}.txt`, `${i}\n`)]);
      // Once the hub has it, and before the client knows.
      const env = i % 2 === 0 ? { BACKTRAIL_FAULT: "team:sent" } : {};
      await ada.run(["team", "send"], { env, timeout: i % 2 === 0 ? 30_000 : 100 + source.below(400) });
    }
    await ada.json(["team", "send"]);
    expect(await status(ada)).toMatchObject({ waiting: { turns: 0 }, sent: KILLS });
    expect(team.rows("SELECT count(*) FROM backtrail.turn_texts")).toEqual([String(KILLS)]);
    expect(onceEach(team)).toEqual([]);
  }, 300_000);

  test("of the hub: a client that retries sends everything", async () => {
    await using team = await Team.start(cluster);
    const ada = await team.member("ada");
    const claude = new ScriptedClaude(ada);
    const source = new Random(7);
    for (let i = 1; i <= KILLS; i++) {
      await claude.turn(`Prompt ${i}`, [write(`${i}.txt`, `${i}\n`)]);
      const sending = ada.run(["team", "send"]);
      await new Promise((resolve) => setTimeout(resolve, source.below(300)));
      await team.end("SIGKILL");
      await sending;
      await team.serve();
    }
    await ada.json(["team", "send"]);
    expect(team.rows("SELECT count(*) FROM backtrail.turns")).toEqual([String(KILLS)]);
    expect(onceEach(team)).toEqual([]);
    expect(await status(ada)).toMatchObject({ waiting: { turns: 0 }, failure: null });
  }, 300_000);

  test("of PostgreSQL: the hub answers 503 meanwhile, and recovers", async () => {
    await using own = await PostgresCluster.start();
    await using team = await Team.start(own);
    const ada = await team.member("ada");
    const claude = new ScriptedClaude(ada);
    const source = new Random(8);
    for (let i = 1; i <= KILLS; i++) {
      await claude.turn(`Prompt ${i}`, [write(`${i}.txt`, `${i}\n`)]);
      const sending = ada.run(["team", "send"]);
      await new Promise((resolve) => setTimeout(resolve, source.below(300)));
      await own.kill();
      await sending;
      expect((await fetch(`${team.url}/healthz`)).status).toBe(200);
      expect((await fetch(`${team.url}/readyz`)).status).toBe(503);
      await own.resume();
      await until(async () => (await fetch(`${team.url}/readyz`)).status === 200);
    }
    await ada.json(["team", "send"]);
    expect(team.rows("SELECT count(*) FROM backtrail.turns")).toEqual([String(KILLS)]);
    expect(onceEach(team)).toEqual([]);
  }, 300_000);

  test("of a migration: nothing is left of it, and the next one runs completely", async () => {
    const url = cluster.create();
    const env = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", BACKTRAIL_HUB_DATABASE: url };
    const init = (timeout: number) => runBinary(["hub", "init", "--json"], { cwd: "/", env, timeout });
    for (const ms of [90, 130, 170]) await init(ms);
    const [first, second] = await Promise.all([init(30_000), init(30_000)]);
    expect([first.code, second.code]).toEqual([0, 0]);
    const migrations = readdirSync(join(import.meta.dirname, "../../src/hub/schema")).filter((name) =>
      /^\d/.test(name),
    );
    expect(cluster.query(url, "SELECT version FROM public.backtrail_migrations ORDER BY version")).toEqual(
      migrations.map((_, i) => String(i + 1)),
    );
  }, 300_000);

  test("two hubs on one database store each turn once, and a delayed older copy changes nothing", async () => {
    const url = cluster.create();
    await using one = await ServedHub.start(url);
    await using other = await ServedHub.start(url);
    const { client, token } = await one.person("ada", { readsAll: "everything" });
    const { HubClient } = await import("../../src/team/client.ts");
    const second = new HubClient(other.url, token);
    const repository = "example.com/shop";
    await client.share({ repository, level: "everything", chosenAt: new Date().toISOString() });
    const turns = Array.from({ length: 40 }, (_, i) => exampleTurn(`session-${i % 4}`, 1 + Math.floor(i / 4)));
    await Promise.all(
      [client, second].flatMap((hub) => [1, 2, 3].map(() => hub.turns({ repository, revision: 5, turns }))),
    );
    expect(cluster.query(url, "SELECT count(*) FROM backtrail.turns")).toEqual(["40"]);
    const newer = turns.map((turn) => ({ ...turn, status: "undone" as const }));
    await client.turns({ repository, revision: 6, turns: newer });
    await second.turns({ repository, revision: 5, turns });
    expect(cluster.query(url, "SELECT DISTINCT status FROM backtrail.turns")).toEqual(["undone"]);
    expect([...one.log, ...other.log]).toEqual([]);
  }, 300_000);
});

describe.skipIf(postgresPrograms === null)("live activity", () => {
  test("reaches only those who may see it, also through another hub", async () => {
    await using cluster = await PostgresCluster.start();
    const url = cluster.create();
    await using one = await ServedHub.start(url);
    await using other = await ServedHub.start(url);
    const ada = await one.person("ada");
    const bob = await other.person("bob", { readsAll: "counts" });
    const eve = await other.person("eve");
    const { HubClient } = await import("../../src/team/client.ts");
    const stop = new AbortController();
    const seen = { bob: [] as object[], eve: [] as object[] };
    const follow = async (name: "bob" | "eve", token: string) => {
      for await (const turn of new HubClient(other.url, token).live(stop.signal)) seen[name].push(turn);
    };
    const following = [follow("bob", bob.token), follow("eve", eve.token)].map((one) => one.catch(() => {}));
    await until(() => cluster.query(url, "SELECT count(*) FROM backtrail.audit WHERE action = 'live'")[0] === "2");
    const repository = "example.com/shop";
    await ada.client.share({ repository, level: "everything", chosenAt: new Date().toISOString() });
    let revision = 0;
    // The listener may still be on its way: a turn that changes again is shown again.
    await until(async () => {
      const turn = { ...exampleTurn("session", 1), apiCalls: ++revision };
      await ada.client.turns({ repository, revision, turns: [turn] });
      return seen.bob.length > 0;
    });
    expect(seen.bob[0]).toMatchObject({ person: "ada", repository, prompt: null, fileCount: 1 });
    expect(seen.eve).toEqual([]);
    stop.abort();
    await Promise.all(following);
    expect([...one.log, ...other.log]).toEqual([]);
  }, 300_000);
});
