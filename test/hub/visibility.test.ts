/**
 * For random people, roles, rights, levels and repositories, every endpoint returns exactly what a plain model says that
 * the person may see: no row more, no row less.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { grant } from "../../src/hub/people/people.ts";
import type { HubClient } from "../../src/team/client.ts";
import { LEVELS, type Level, levelNumber } from "../../src/team/levels.ts";
import type { VisibleTurn } from "../../src/team/protocol.ts";
import { PostgresCluster, postgresPrograms } from "../support/postgres.ts";
import { checkpointOf, exampleTurn, ServedHub } from "./served.ts";

const PEOPLE = ["ada", "bob", "cleo", "dan"];
const REPOSITORIES = ["example.com/shop", "example.com/tools", "example.com/secret"];

const level = fc.constantFrom(...LEVELS);
const right = fc.option(level, { nil: null });
const world = fc.record({
  readsAll: fc.tuple(right, right, right, right),
  grants: fc.array(fc.record({ person: fc.nat(3), repository: fc.nat(2), level: right }), { maxLength: 8 }),
  shares: fc.array(fc.record({ person: fc.nat(3), repository: fc.nat(2), level }), { minLength: 2, maxLength: 8 }),
  /** After everything was sent: levels change, sessions are forgotten. */
  changes: fc.array(fc.record({ person: fc.nat(3), repository: fc.nat(2), level: right }), { maxLength: 3 }),
});

interface ModelTurn {
  person: string;
  repository: string;
  session: string;
  level: Level;
}

describe.skipIf(postgresPrograms === null)("visibility", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
  }, 300_000);
  afterAll(async () => cluster?.stop());

  test("no endpoint returns a row that its caller may not see", async () => {
    await fc.assert(
      fc.asyncProperty(world, async ({ readsAll, grants, shares, changes }) => {
        await using hub = await ServedHub.start(cluster.create(), { joinsPerSecond: 100 });
        const clients = new Map<string, HubClient>();
        for (const [i, name] of PEOPLE.entries())
          clients.set(name, (await hub.person(name, { readsAll: readsAll[i] ?? null })).client);
        const rights = new Map<string, Level | null>();
        for (const one of grants) {
          const [person = "", repository = ""] = [PEOPLE[one.person], REPOSITORIES[one.repository]];
          await grant(hub.database, person, repository, one.level);
          rights.set(`${person} ${repository}`, one.level);
        }
        let turns: ModelTurn[] = [];
        const share = async (person: string, repository: string, chosen: Level) => {
          await clients.get(person)?.share({ repository, level: chosen, chosenAt: new Date().toISOString() });
          turns = turns.map((turn) =>
            turn.person === person && turn.repository === repository && levelNumber(turn.level) > levelNumber(chosen)
              ? { ...turn, level: chosen }
              : turn,
          );
        };
        for (const [i, one] of shares.entries()) {
          const [person = "", repository = ""] = [PEOPLE[one.person], REPOSITORIES[one.repository]];
          await share(person, repository, one.level);
          const session = `session-${i}`;
          // The client sends everything on purpose: the hub itself keeps no more than the chosen level.
          await clients.get(person)?.turns({ repository, revision: i + 1, turns: [exampleTurn(session, 1)] });
          turns.push({ person, repository, session, level: one.level });
        }
        for (const one of changes) {
          const [person = "", repository = ""] = [PEOPLE[one.person], REPOSITORIES[one.repository]];
          if (one.level) await share(person, repository, one.level);
          else {
            const own = turns.filter((turn) => turn.person === person && turn.repository === repository);
            const others = turns.filter((turn) => turn.person !== person);
            const wanted = [...own, ...others].map(({ session }) => exampleTurn(session, 1).session);
            await clients.get(person)?.forget({ sessions: wanted });
            // Nobody forgets other people's sessions.
            turns = turns.filter((turn) => !own.includes(turn));
          }
        }
        for (const [i, person] of PEOPLE.entries()) {
          const client = clients.get(person);
          if (!client) throw new Error("There is no client.");
          const mayRead = (turn: ModelTurn, wanted: Level): boolean => {
            if (levelNumber(turn.level) < levelNumber(wanted)) return false;
            if (turn.person === person) return true;
            const most = [readsAll[i] ?? null, rights.get(`${person} ${turn.repository}`) ?? null];
            return most.some((one) => one !== null && levelNumber(one) >= levelNumber(wanted));
          };
          await check(client, turns, mayRead);
          await checkPage(hub.url, client, turns, mayRead);
        }
        expect(hub.log).toEqual([]);
      }),
      { numRuns: 8, seed: 18, endOnFailure: true },
    );
  }, 300_000);
});

async function check(
  client: HubClient,
  turns: readonly ModelTurn[],
  mayRead: (turn: ModelTurn, level: Level) => boolean,
): Promise<void> {
  const { items } = await client.listTurns({ limit: 200 });
  const shown = (turn: ModelTurn) => ({
    person: turn.person,
    repository: turn.repository,
    prompt: mayRead(turn, "prompts") ? `common prompt of ${turn.session}` : null,
    paths: mayRead(turn, "prompts") ? [`src/${turn.session}.ts`] : null,
  });
  const counted = turns.filter((turn) => mayRead(turn, "counts"));
  expect(sorted(items.map(briefly))).toEqual(sorted(counted.map(shown)));

  const texts = turns.filter((turn) => mayRead(turn, "prompts") || mayRead(turn, "everything"));
  for (const [word, wanted] of [
    ["common", texts],
    ["prompt", turns.filter((turn) => mayRead(turn, "prompts"))],
    ["answer", turns.filter((turn) => mayRead(turn, "everything"))],
  ] as const) {
    const found = await client.search({ q: word, limit: 100 });
    expect(sorted(found.items.map(briefly))).toEqual(sorted(wanted.map(shown)));
    for (const hit of found.items) if (hit.field !== "prompt") expect(hit.snippet).toContain("answer");
  }
  for (const person of PEOPLE)
    for (const repository of REPOSITORIES) {
      const here = (turn: ModelTurn) => turn.person === person && turn.repository === repository;
      const listed = await client.listTurns({ person, repository, limit: 200 });
      expect(sorted(listed.items.map(briefly))).toEqual(sorted(counted.filter(here).map(shown)));
      const found = await client.search({ q: "common", person, repository, agent: "claude-code", limit: 100 });
      expect(sorted(found.items.map(briefly))).toEqual(sorted(texts.filter(here).map(shown)));
      expect((await client.search({ q: "common", person, repository, agent: "other", limit: 100 })).items).toEqual([]);
    }
  for (const turn of turns) {
    const { items: own } = await client.checkpoint(checkpointOf(turn.session));
    expect(own.map(briefly)).toEqual(mayRead(turn, "prompts") ? [shown(turn)] : []);
  }
  const { items: rows } = await client.activity({ from: "2026-01-01", to: "2026-01-31" });
  expect(rows.reduce((sum, row) => sum + row.turns, 0)).toBe(counted.length);
  const visible = new Set(counted.map(({ repository }) => repository));
  for (const { repository, people } of rows)
    expect(people).toBe(
      new Set(counted.filter((one) => one.repository === repository).map(({ person }) => person)).size,
    );
  expect(rows.map(({ repository }) => repository).sort()).toEqual([...visible].sort());
}

/** The page in the browser has the same rows. */
async function checkPage(
  url: string,
  client: HubClient,
  turns: readonly ModelTurn[],
  mayRead: (turn: ModelTurn, level: Level) => boolean,
): Promise<void> {
  const { link } = await client.link();
  const login = await fetch(`${url}/api/login`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ token: link }),
  });
  const cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const get = async (path: string) => (await fetch(`${url}/api/${path}`, { headers: { cookie } })).json();
  const counted = turns.filter((turn) => mayRead(turn, "counts"));
  const prompts = counted.map((turn) => (mayRead(turn, "prompts") ? `common prompt of ${turn.session}` : null));
  const { items } = (await get("timeline?limit=200")) as { items: { id: string; prompt: string | null }[] };
  expect(items.map(({ prompt }) => String(prompt)).sort()).toEqual(prompts.map(String).sort());
  const { hits } = (await get("search?q=answer&limit=100")) as { hits: object[] };
  expect(hits).toHaveLength(turns.filter((turn) => mayRead(turn, "everything")).length);
  let conversations = 0;
  for (const { id } of items)
    if (((await get(`teamTurn?id=${id}`)) as { entries: object[] | null }).entries !== null) conversations++;
  expect(conversations).toBe(hits.length);
  const { sessions } = (await get("sessions")) as { sessions: object[] };
  expect(sessions).toHaveLength(counted.length);
}

function briefly({ person, repository, prompt, paths }: VisibleTurn) {
  return { person, repository, prompt, paths };
}

function sorted<T>(items: readonly T[]): string[] {
  return items.map((item) => JSON.stringify(item)).sort();
}
