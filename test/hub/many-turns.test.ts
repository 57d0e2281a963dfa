/** What an index does differently once it has many turns: counts that are kept, and searches for common words. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { checkIndex } from "../../src/hub/database/backup-check.ts";
import { Database } from "../../src/hub/database/connect.ts";
import { migrate } from "../../src/hub/database/migrate.ts";
import { grant } from "../../src/hub/people/people.ts";
import { activity } from "../../src/hub/query/activity.ts";
import type { Level } from "../../src/team/levels.ts";
import type { SharedTurn } from "../../src/team/protocol.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { exampleTurn, ServedHub } from "./served.ts";

const SHOP = "example.com/shop";
const TOOLS = "example.com/tools";
const MINUTE_MS = 60_000;

describe.skipIf(postgresPrograms === null)("an index of many turns", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  const now = () => new Date().toISOString();

  test("finds the newest turns that have a common word, as far as they may be read", async () => {
    const url = cluster.create();
    await using hub = await ServedHub.start(url);
    const ada = (await hub.person("ada")).client;
    const bob = (await hub.person("bob")).client;
    const eve = (await hub.person("eve", { readsAll: "prompts" })).client;
    const start = Date.parse("2026-01-05T00:00:00Z");
    const at = (minute: number, turn: SharedTurn): SharedTurn => {
      const time = new Date(start + minute * MINUTE_MS).toISOString();
      return { ...turn, startedAt: time, endedAt: time };
    };
    for (const [client, name, shift] of [
      [ada, "ada", 0],
      [bob, "bob", 1],
    ] as const) {
      await client.share({ repository: SHOP, level: "everything", chosenAt: now() });
      const turns = Array.from({ length: 400 }, (_, i) => at(2 * i + shift, exampleTurn(name, i + 1)));
      await client.turns({ repository: SHOP, revision: 1, turns });
    }
    cluster.query(url, "VACUUM ANALYZE backtrail.turn_texts, backtrail.messages");

    const found = async (client: typeof ada, q: string, person?: string) =>
      (await client.search({ q, person, limit: 5 })).items.map((hit) => `${hit.person} ${hit.turn} ${hit.field}`);
    const own = (name: string, field: string) => [400, 399, 398, 397, 396].map((turn) => `${name} ${turn} ${field}`);
    expect(await found(ada, "common")).toEqual(own("ada", "prompt"));
    expect(await found(ada, "answer")).toEqual(own("ada", "answer"));
    expect(await found(bob, "answer")).toEqual(own("bob", "answer"));
    expect(await found(bob, "answer", "ada")).toEqual([]);
    // Both people's turns take turns, and nobody's messages are for her.
    expect(await found(eve, "common")).toEqual(
      ["bob 400", "ada 400", "bob 399", "ada 399", "bob 398"].map((one) => `${one} prompt`),
    );
    expect(await found(eve, "prompt", "ada")).toEqual(own("ada", "prompt"));
    expect(await found(eve, "answer")).toEqual([]);
  }, 300_000);

  test("search finds the same as a plain look at all turns", async () => {
    const url = cluster.create();
    await using hub = await ServedHub.start(url);
    const authors = { ada: await hub.person("ada"), bob: await hub.person("bob") };
    const repositories = Array.from({ length: 6 }, (_, i) => `example.com/r${i}`);
    const start = Date.parse("2026-01-02T00:00:00Z");
    const COUNT = 1_800;
    const all = Array.from({ length: COUNT }, (_, i) => {
      const words = ["always"];
      if (i % 3 === 0) words.push("often");
      if (i % 90 === 7) words.push("seldom");
      // Much rarer among the newest turns, and in most repositories, than its number says.
      if (i < COUNT * 0.4) words.push("early");
      if (i % 6 === 2) words.push("elsewhere");
      const time = new Date(start + i * MINUTE_MS).toISOString();
      const agent = i % 100 === 3 ? "codex" : "claude-code";
      const turn: SharedTurn = {
        ...exampleTurn(`session-${i}`, 1, words.join(" ")),
        agent,
        startedAt: time,
        endedAt: time,
      };
      if (turn.text && i % 2 === 0) turn.text.prompt = "nothing";
      return {
        turn,
        words,
        author: i % 5 === 0 ? ("bob" as const) : ("ada" as const),
        repository: `example.com/r${i % 6}`,
      };
    });
    for (const [author, { client }] of Object.entries(authors))
      for (const repository of repositories) {
        await client.share({ repository, level: "everything", chosenAt: now() });
        const turns = all
          .filter((one) => one.author === author && one.repository === repository)
          .map(({ turn }) => turn);
        await client.turns({ repository, revision: 1, turns });
      }
    cluster.query(url, "VACUUM ANALYZE backtrail.turns, backtrail.turn_texts, backtrail.messages");

    const readers = [
      { name: "everything", readsAll: "everything" },
      { name: "prompts", readsAll: "prompts" },
      { name: "counts", readsAll: "counts" },
      { name: "one", readsAll: null, granted: { "example.com/r1": "everything" } },
      { name: "two", readsAll: null, granted: { "example.com/r2": "prompts", "example.com/r4": "everything" } },
      { name: "ada", readsAll: null },
    ] as const;
    const filters = [{}, { repository: "example.com/r2" }, { person: "bob" }, { agent: "codex" }];
    const order = ["counts", "prompts", "everything"];
    for (const { name, readsAll, ...reader } of readers) {
      const granted: Record<string, Level> = "granted" in reader ? reader.granted : {};
      const client = name === "ada" ? authors.ada.client : (await hub.person(name, { readsAll })).client;
      for (const [repository, level] of Object.entries(granted)) await grant(hub.database, name, repository, level);
      for (const word of [
        "always",
        "often",
        "seldom",
        "early",
        "elsewhere",
        "never",
        "often elsewhere",
        "sel*",
        "al* else*",
      ])
        for (const filter of filters) {
          const expected = all
            .filter(({ turn, words, author, repository }) => {
              const level = author === name ? 2 : order.indexOf(granted[repository] ?? readsAll ?? "");
              const inPrompt = level >= 1 && turn.text?.prompt !== "nothing";
              return (
                word
                  .split(" ")
                  .every((one) =>
                    words.some((has) => (one.endsWith("*") ? has.startsWith(one.slice(0, -1)) : has === one)),
                  ) &&
                (inPrompt || level >= 2) &&
                Object.entries(filter).every(
                  ([key, value]) => ({ repository, person: author, agent: turn.agent })[key] === value,
                )
              );
            })
            .map(({ turn }) => turn.startedAt)
            .toReversed()
            .slice(0, 5);
          const { items } = await client.search({ q: word, limit: 5, ...filter });
          expect({ name, word, filter, found: items.map(({ startedAt }) => startedAt) }).toEqual({
            name,
            word,
            filter,
            found: expected,
          });
        }
    }
    expect(hub.log).toEqual([]);
  }, 300_000);

  test("made by an earlier version keeps its turns and gets its counts", async () => {
    const url = cluster.create();
    const schema = join(import.meta.dirname, "../../src/hub/schema");
    const earlier = readdirSync(schema).filter((name) => /^000[1-3].*\.sql$/.test(name));
    const applied = earlier.map(
      (name, i) => `${readFileSync(join(schema, name), "utf8")};
      INSERT INTO public.backtrail_migrations (version) VALUES (${i + 1});`,
    );
    const turn = (number: number, usd: string) =>
      `('2026-01-01', 1, ${number}, 1, 1, 'codex', '2026-01-05T10:0${number}:00Z', 'kept', 2, ${usd}, 0, 'client', 1, '')`;
    cluster.query(
      url,
      `BEGIN; CREATE TABLE public.backtrail_migrations (version integer PRIMARY KEY, at timestamptz DEFAULT now());
       ${applied.join("\n")}
       INSERT INTO people (name, role) VALUES ('ada', 'member'); SELECT name_repositories('{${SHOP}}'); SELECT ensure_month('2026-01-01');
       INSERT INTO shares VALUES (1, 1, 0, now());
       INSERT INTO sessions (repository_id, key, person_id, month, agent, source) VALUES (1, '', 1, '2026-01-01', 'codex', 'client');
       INSERT INTO turns (month, session_id, number, repository_id, person_id, agent, started_at, status, file_count, usd, level, source, revision, digest)
         VALUES ${turn(1, "0.5")}, ${turn(2, "NULL")}; COMMIT`,
    );
    const database = new Database({ url });
    expect(await migrate(database)).toEqual({ from: 3, to: 5 });
    expect((await checkIndex(database)).filter(({ violations }) => violations > 0)).toEqual([]);
    const rows = await database.as(1, (query) => activity(query, { from: "2026-01-05", to: "2026-01-05" }));
    expect(rows).toMatchObject([{ repository: SHOP, agent: "codex", turns: 2, files: 4, people: 1, usd: 0.5 }]);
    // A hub of the version before still serves, and searches month by month.
    const found = await database.as(1, (query) =>
      query("SELECT * FROM matching('2026-01-01'::date, 'x'::tsquery, NULL, NULL, NULL, 5)"),
    );
    expect(found).toEqual([]);
    await database.asOwner((query) => query("UPDATE day_counts SET turns = 3"));
    await database.asOwner((query) => query("ALTER TABLE day_counts DISABLE ROW LEVEL SECURITY"));
    expect((await checkIndex(database)).filter(({ violations }) => violations > 0)).toEqual([
      { name: "policies", violations: 1 },
      { name: "counts", violations: 1 },
    ]);
    await database.close();
  }, 60_000);

  test("has counts by day that agree with its turns after any change", async () => {
    const action = fc.record({
      kind: fc.constantFrom("send", "send", "send", "lower", "raise", "forget"),
      person: fc.nat(1),
      repository: fc.constantFrom(SHOP, TOOLS),
      session: fc.nat(3),
      turn: fc.integer({ min: 1, max: 3 }),
      status: fc.constantFrom("kept", "undone", "rewound"),
      fileCount: fc.nat(5),
      usd: fc.constantFrom(null, 0.1, 0.2, 1e-7),
      day: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 25 }), async (actions) => {
        const url = cluster.create();
        await using hub = await ServedHub.start(url);
        const people = [(await hub.person("ada")).client, (await hub.person("bob")).client];
        for (const client of people)
          for (const repository of [SHOP, TOOLS])
            await client.share({ repository, level: "everything", chosenAt: now() });
        let revision = 0;
        for (const { kind, person, repository, session, turn, day, ...rest } of actions) {
          const client = people[person];
          const example = { ...exampleTurn(`session-${person}-${session}`, turn), ...rest };
          const startedAt = `2026-01-0${day}T23:59:59.000Z`;
          if (kind === "send")
            await client?.turns({
              repository,
              revision: ++revision,
              turns: [{ ...example, startedAt, endedAt: null }],
            });
          else if (kind === "forget") await client?.forget({ sessions: [example.session] });
          else await client?.share({ repository, level: kind === "lower" ? "counts" : "everything", chosenAt: now() });
        }
        const columns =
          "day, repository_id, agent, person_id, turns, files, undone, input_tokens, output_tokens, usd::float8, usd_turns";
        const [kept, counted] = ["day_counts", "counted"].map((table) =>
          cluster.query(url, `SELECT ${columns} FROM backtrail.${table} ORDER BY 1, 2, 3, 4`),
        );
        expect(kept).toEqual(counted ?? []);
        expect(hub.log).toEqual([]);
      }),
      { numRuns: 6, seed: 4, endOnFailure: true },
    );
  }, 300_000);
});
