/** A month of messages on a second server, moved there by the statements of docs/scale.md. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { exampleTurn, ServedHub } from "./served.ts";
import { until } from "./team.ts";

const repository = "example.com/shop";
const page = readFileSync(join(import.meta.dirname, "..", "..", "docs", "scale.md"), "utf8");
const [there = "", here = ""] = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, sql]) => sql);

describe.skipIf(postgresPrograms === null)("a month on another server", () => {
  test("is searched, replaced and forgotten as if it were here, and shown to nobody else", async () => {
    await using near = await PostgresCluster.start();
    await using far = await PostgresCluster.start();
    const url = near.create();
    const farUrl = far.create();
    await using hub = await ServedHub.start(url);
    const ada = await hub.person("ada", { readsAll: "everything" });
    const eve = await hub.person("eve", { readsAll: "prompts" });
    await ada.client.share({ repository, level: "everything", chosenAt: new Date().toISOString() });
    const turns = [1, 2, 3].map((turn) => exampleTurn("s", turn, "falcon"));
    await ada.client.turns({ repository, revision: 1, turns });

    far.query(farUrl, there);
    const place = `host '127.0.0.1', port '${far.port}', dbname '${new URL(farUrl).pathname.slice(1)}'`;
    // The clusters of the tests ask for no password, and postgres_fdw insists on one unless it is told otherwise.
    const moved = here.replace("host 'far.example.com', dbname 'backtrail'", place);
    near.query(url, moved.replace("password '…'", "password_required 'false'"));
    const count = () => far.query(farUrl, "SELECT count(*) FROM messages_202601");
    expect(count()).toEqual(["3"]);
    expect(near.query(url, "SELECT count(*) FROM ONLY backtrail.messages")).toEqual(["0"]);

    const found = await ada.client.search({ q: "answer falcon" });
    expect(found.items.map(({ field }) => field)).toEqual(["answer", "answer", "answer"]);
    expect((await eve.client.search({ q: "answer" })).items).toEqual([]);
    expect((await eve.client.search({ q: "falcon" })).items.map(({ field }) => field)).toEqual([
      "prompt",
      "prompt",
      "prompt",
    ]);

    const [first, ...rest] = turns;
    const changed = {
      ...(first ?? exampleTurn("s", 1)),
      messages: [{ kind: "answer" as const, tool: null, text: "osprey" }],
    };
    await ada.client.turns({ repository, revision: 2, turns: [changed, ...rest, exampleTurn("other", 1, "falcon")] });
    expect((await ada.client.search({ q: "osprey" })).items).toHaveLength(1);
    expect(count()).toEqual(["4"]);

    await far.kill();
    await expect(ada.client.search({ q: "osprey" })).rejects.toThrow();
    await far.resume();
    await until(async () => (await ada.client.search({ q: "osprey" }).catch(() => null)) !== null);
    expect(hub.log.filter(({ status }) => status !== 503)).toEqual([]);

    await ada.client.forget({ sessions: [exampleTurn("s", 1).session] });
    expect(count()).toEqual(["1"]);
    expect((await ada.client.search({ q: "osprey" })).items).toEqual([]);
  }, 300_000);
});
