/** Many transactions at once on few connections: they wait for each other, and waiting is not taken for a stuck database. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Database, DatabaseTimeout } from "../../src/hub/database/connect.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";

describe.skipIf(postgresPrograms === null)("few connections", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  const sleep = (database: Database, seconds: number) =>
    database
      .asOwner((query) => query<{ pid: number }>(`SELECT pg_backend_pid() AS pid, pg_sleep(${seconds})::text`))
      .then(([row]) => row?.pid);

  test("serve all, one after the other, on the same connection", async () => {
    const database = new Database({ url: cluster.create(), maxConnections: 1, timeoutMs: 1_000 });
    const pids = await Promise.all(Array.from({ length: 8 }, () => sleep(database, 0.5)));
    await database.close();
    expect(new Set(pids).size).toBe(1);
  }, 60_000);

  test("refuse what waits for too long, and finish what runs", async () => {
    const database = new Database({ url: cluster.create(), maxConnections: 1, waitMs: 300 });
    const running = sleep(database, 2);
    const refused: unknown = await sleep(database, 0).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DatabaseTimeout);
    expect(await running).toBe(await sleep(database, 0));
    await database.close();
  }, 60_000);
});
