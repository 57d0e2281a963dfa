/**
 * Measures the hub on a PostgreSQL server of its own: ingest, search and activity at two sizes of the index, and many
 * clients at once. `node scripts/bun.mjs bench/hub.ts [turns]`; each turn has ten messages.
 */
import { Database } from "../src/hub/database/connect.ts";
import { activity } from "../src/hub/query/activity.ts";
import { search } from "../src/hub/query/search.ts";
import type { HubClient } from "../src/team/client.ts";
import type { SharedTurn } from "../src/team/protocol.ts";
import { Random } from "../test/fuzz/random.ts";
import { exampleTurn, ServedHub } from "../test/hub/served.ts";
import { PostgresCluster } from "../test/support/postgres.ts";

const TURNS = Number(process.argv[2] ?? 100_000);
const MESSAGES = 10;
const BATCH = 200;
const CLIENTS = 4;
const REPOSITORIES = 20;
const DAYS = 180;
const WORDS = Array.from({ length: 20_000 }, (_, i) => `word${(i * 7919) % 20_000}`);
const DAY_MS = 86_400_000;
const MANY = 200;

await using cluster = await PostgresCluster.start([
  "shared_buffers=512MB",
  "max_wal_size=4GB",
  "synchronous_commit=on",
]);
const url = cluster.create();
await using hub = await ServedHub.start(url, { joinsPerSecond: 1_000 });
const source = new Random(1);
process.on("exit", () => hub.log.length > 0 && console.log(hub.log.slice(0, 3)));
const people: HubClient[] = [];
for (let i = 0; i < CLIENTS; i++) {
  const { client } = await hub.person(`person${i}`, { readsAll: i === 0 ? "everything" : null });
  people.push(client);
  for (let r = 0; r < REPOSITORIES; r++)
    await client.share({ repository: `example.com/r${r}`, level: "everything", chosenAt: new Date().toISOString() });
}
const reader = new Database({ url });

console.log(`countsOnly: ${(await ingest(20_000, 0)).toFixed(0)} turns/s`);
const tenth = await ingest(TURNS / 10, MESSAGES);
console.log(`everything, first tenth: ${tenth.toFixed(0)} turns/s (${(tenth * MESSAGES).toFixed(0)} messages/s)`);
await report("10 %");
const rest = await ingest((TURNS * 9) / 10, MESSAGES);
console.log(`everything, the rest: ${rest.toFixed(0)} turns/s (${(rest * MESSAGES).toFixed(0)} messages/s)`);
await report("100 %");
console.log(cluster.query(url, "SELECT pg_size_pretty(pg_database_size(current_database()))"));
console.log(cluster.query(url, "SELECT count(*), (SELECT count(*) FROM backtrail.messages) FROM backtrail.turns"));
await manyClients();
await reader.close();

/** Sends turns through HTTP from several clients at once; returns turns per second. */
async function ingest(count: number, messages: number): Promise<number> {
  const began = performance.now();
  const revision = Date.now();
  await Promise.all(
    people.map(async (client, c) => {
      for (let sent = 0; sent < count / CLIENTS; sent += BATCH) {
        const repository = `example.com/r${source.below(REPOSITORIES)}`;
        const turns = Array.from({ length: BATCH }, (_, i) =>
          turnOf(`s-${messages}-${count}-${c}-${sent + i - (i % 10)}`, 1 + (i % 10), messages),
        );
        await client.turns({ repository, revision, turns });
      }
    }),
  );
  return count / ((performance.now() - began) / 1000);
}

function turnOf(session: string, number: number, messages: number): SharedTurn {
  const at = new Date(Date.now() - source.below(DAYS) * DAY_MS - source.below(DAY_MS));
  const example = exampleTurn(session, number);
  const text = (words: number) =>
    Array.from({ length: words }, () => WORDS[Math.floor(source.below(20_000) ** 2 / 20_000)]).join(" ");
  return {
    ...example,
    startedAt: at.toISOString(),
    endedAt: new Date(at.getTime() + 60_000).toISOString(),
    text:
      messages === 0 ? null : { session, prompt: text(15), paths: [`src/${source.pick(WORDS)}.ts`], checkpoints: [] },
    messages:
      messages === 0
        ? null
        : Array.from({ length: messages }, () => ({ kind: "answer" as const, tool: null, text: text(40) })),
  };
}

async function report(size: string): Promise<void> {
  cluster.query(url, "ANALYZE backtrail.turns, backtrail.turn_texts, backtrail.messages");
  const rare = await measure(200, (query) =>
    search(query, { text: `${source.pick(WORDS)} ${source.pick(WORDS)} ${source.pick(WORDS)}`, limit: 20 }),
  );
  const common = await measure(50, (query) => search(query, { text: "word0", limit: 20 }));
  const selective = await measure(100, (query) =>
    search(query, { text: `${source.pick(WORDS)} ${source.pick(WORDS)}`, limit: 20 }),
  );
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
  const week = await measure(20, (query) => activity(query, { from: day(7), to: day(0) }));
  const months = await measure(5, (query) => activity(query, { from: day(DAYS), to: day(0) }));
  for (const [name, times] of Object.entries({ rare, selective, common, week, months }))
    console.log(`${size} ${name}: ${times}`);
}

async function measure(runs: number, work: (query: Parameters<typeof search>[0]) => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let i = 0; i < runs; i++) {
    const began = performance.now();
    await reader.as(1, work);
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1);
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`;
}

/** Many machines that each send one turn and search once, at the same moment. */
async function manyClients(): Promise<void> {
  const clients: HubClient[] = [];
  for (let i = 0; i < MANY; i++) clients.push((await hub.person(`many${i}`)).client);
  const repository = "example.com/r0";
  const times = await Promise.all(
    clients.map(async (client, i) => {
      const began = performance.now();
      await client.share({ repository, level: "prompts", chosenAt: new Date().toISOString() });
      await client.turns({ repository, revision: 1, turns: [turnOf(`many-${i}`, 1, 1)] });
      await client.search({ q: WORDS[i] ?? "", limit: 20 });
      return performance.now() - began;
    }),
  );
  times.sort((a, b) => a - b);
  console.log(
    `${MANY} clients, three requests each: p50 ${times[MANY / 2]?.toFixed(0)} ms, p95 ${times[Math.floor(MANY * 0.95)]?.toFixed(0)} ms; failures in the log: ${hub.log.length}`,
  );
}
