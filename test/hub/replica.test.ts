/** Reads on a streaming standby: what the replica shows, where the audit log is written, and what happens without it. */
import { describe, expect, test } from "bun:test";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { exampleTurn, ServedHub } from "./served.ts";
import { until } from "./team.ts";

const repository = "example.com/shop";

describe.skipIf(postgresPrograms === null)("a read replica", () => {
  test("answers reads, the primary has the audit log, and reads continue when the replica is killed", async () => {
    await using primary = await PostgresCluster.start();
    const url = primary.create();
    await using standby = await primary.standby();
    const readUrl = standby.url(new URL(url).pathname.slice(1));
    await using hub = await ServedHub.start(url, { database: { readUrl } });
    const ada = await hub.person("ada");
    const bob = await hub.person("bob", { readsAll: "counts" });
    await ada.client.share({ repository, level: "everything", chosenAt: new Date().toISOString() });
    await ada.client.turns({ repository, revision: 1, turns: [exampleTurn("s", 1)] });
    await until(() => standby.query(readUrl, "SELECT count(*) FROM backtrail.turns")[0] === "1");

    const reads = (cluster: PostgresCluster, at: string) =>
      cluster.query(
        at,
        "SELECT sum(xact_commit) FROM pg_stat_database WHERE datname = current_database() AND pg_stat_clear_snapshot() IS NOT NULL",
      )[0];
    const before = reads(standby, readUrl);
    expect((await ada.client.search({ q: "common" })).items).toHaveLength(1);
    expect((await ada.client.listTurns({})).items).toHaveLength(1);
    expect((await ada.client.activity({ from: "2026-01-01", to: "2026-01-31" })).items).toHaveLength(1);
    // Row-level security holds there as well.
    expect((await bob.client.search({ q: "common" })).items).toEqual([]);
    expect((await bob.client.listTurns({})).items).toMatchObject([{ prompt: null, fileCount: 1 }]);
    await until(() => Number(reads(standby, readUrl)) > Number(before) + 4);
    const audited = () =>
      primary.query(
        url,
        "SELECT action, count(*) FROM backtrail.audit WHERE person_id IS NOT NULL GROUP BY 1 ORDER BY 1",
      );
    expect(audited()).toEqual(["activity|1", "join|2", "search|2", "send|1", "share|1", "turns|2"]);

    await standby.kill();
    expect((await ada.client.search({ q: "common" })).items).toHaveLength(1);
    expect(audited()).toContain("search|3");
    await ada.client.turns({ repository, revision: 2, turns: [exampleTurn("s", 2)] });
    await standby.resume();
    await until(() => standby.query(readUrl, "SELECT count(*) FROM backtrail.turns")[0] === "2");
    expect((await ada.client.listTurns({})).items).toHaveLength(2);
    expect(hub.log).toEqual([]);
  }, 300_000);

  test("a hub on a standby alone answers 503, and says that the database takes no changes", async () => {
    await using primary = await PostgresCluster.start();
    const url = primary.create();
    await using hub = await ServedHub.start(url);
    const { token } = await hub.person("ada");
    await using standby = await primary.standby();
    const { Database } = await import("../../src/hub/database/connect.ts");
    const { serveHub } = await import("../../src/hub/server/serve.ts");
    const database = new Database({ url: standby.url(new URL(url).pathname.slice(1)) });
    const log: object[] = [];
    const second = await serveHub(database, { host: "127.0.0.1", port: 0, log: (entry) => log.push(entry) });
    try {
      const response = await fetch(`${second.url}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ error: { kind: "busy" } });
      expect(log).toMatchObject([{ status: 503, state: "25006" }]);
    } finally {
      await second.stop();
      await database.close();
    }
  }, 300_000);
});
