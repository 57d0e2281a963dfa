/**
 * Measures the hub on a PostgreSQL server of its own: ingest, search and activity at two sizes of the index, and many
 * clients at once. `npm run bench:hub -- [turns] [minutes]`: it stops loading after so many minutes; each turn has ten
 * messages. The hub is the built executable, in a process of its own.
 */
import { readdirSync, readFileSync } from "node:fs";
import { Database } from "../src/hub/database/connect.ts";
import { addPerson } from "../src/hub/people/people.ts";
import { invite, join } from "../src/hub/people/tokens.ts";
import { activity } from "../src/hub/query/activity.ts";
import { search } from "../src/hub/query/search.ts";
import { HubClient } from "../src/team/client.ts";
import { Team } from "../test/hub/team.ts";
import { PostgresCluster } from "../test/support/postgres.ts";
import { DAYS, Load, REPOSITORIES } from "./hub-load.ts";

const TURNS = Number(process.argv[2] ?? 200_000);
const MINUTES = Number(process.argv[3] ?? 20);
const MESSAGES = 10;
const BATCH = 200;
const CLIENTS = 4;
const MANY = 200;
const DAY_MS = 86_400_000;

await using cluster = await PostgresCluster.start([
  "fsync=on",
  "shared_buffers=1GB",
  "max_wal_size=8GB",
  "synchronous_commit=on",
]);
await using team = await Team.start(cluster);
const database = new Database({ url: team.database });
const load = new Load(1);
const clients: HubClient[] = [];
for (let i = 0; i < CLIENTS; i++) clients.push(await joined(`person${i}`, i === 0));
for (const client of clients)
  for (let r = 0; r < REPOSITORIES; r++)
    await client.share({ repository: `example.com/r${r}`, level: "everything", chosenAt: new Date().toISOString() });

const deadline = performance.now() + MINUTES * 60_000;
await ingest("counts", 20_000, 0);
await ingest("everything, first tenth", TURNS / 10, MESSAGES);
await report("10 %");
await ingest("everything, the rest", (TURNS * 9) / 10, MESSAGES);
await report("100 %");
const size = "SELECT pg_size_pretty(pg_database_size(current_database()))";
const counts = "SELECT count(*), (SELECT count(*) FROM backtrail.messages) FROM backtrail.turns";
console.log(`size: ${cluster.query(team.database, size)}; turns|messages: ${cluster.query(team.database, counts)}`);
await manyClients();
await database.close();

async function joined(name: string, readsAll: boolean): Promise<HubClient> {
  await addPerson(database, { name, email: null, role: "member", readsAll: readsAll ? "everything" : null });
  const { invitation } = await invite(database, name);
  const device = await join(database, invitation, "bench");
  return new HubClient(team.url, device?.token ?? null);
}

/** Sends turns through HTTP from several clients at once, until there are enough or the time is over. */
async function ingest(name: string, count: number, messages: number): Promise<void> {
  const revision = Date.now();
  const batches = Math.ceil(count / BATCH);
  const before = { hub: cpuOf("hub"), database: cpuOf("database") };
  const began = performance.now();
  let next = 0;
  let sent = 0;
  await Promise.all(
    clients.map(async (client) => {
      for (let batch = next++; batch < batches && performance.now() < deadline; batch = next++) {
        const turns = load.turns(`s-${messages}-${count}-${batch}`, BATCH, messages);
        await patiently(() => client.turns({ repository: load.repository(), revision, turns }));
        sent += BATCH;
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const each = (part: "hub" | "database") => (((cpuOf(part) - before[part]) * 1000) / sent).toFixed(2);
  console.log(
    `${name}: ${sent} turns, ${(sent / seconds).toFixed(0)} turns/s; CPU per turn: hub ${each("hub")} ms, database ${each("database")} ms`,
  );
}

/** The hub lets a device ask only so often. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if ((error as { kind?: string }).kind !== "busy") throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** Seconds of processor time since the start. */
function cpuOf(part: "hub" | "database"): number {
  const ticks = (pid: string) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return {
      parent: fields[1],
      own: Number(fields[11]) + Number(fields[12]),
      waited: Number(fields[13]) + Number(fields[14]),
    };
  };
  const hub = String(team.hubProcess.pid);
  if (part === "hub") return ticks(hub).own / 100;
  const server = readFileSync(`${cluster.data}/postmaster.pid`, "utf8").split("\n")[0] ?? "";
  const running = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  let sum = ticks(server).waited;
  for (const pid of running) {
    try {
      const { parent, own } = ticks(pid);
      if (parent === server) sum += own;
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum / 100;
}

async function report(part: string): Promise<void> {
  cluster.query(team.database, "ANALYZE backtrail.turns, backtrail.turn_texts, backtrail.messages");
  const find = (text: () => string) => (query: Parameters<typeof search>[0]) =>
    search(query, { text: text(), limit: 20 });
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
  const rows = {
    "search, three words": await measure(
      100,
      find(() => load.words(3)),
    ),
    "search, two words": await measure(
      100,
      find(() => load.words(2)),
    ),
    "search, one common word": await measure(
      50,
      find(() => "function"),
    ),
    "activity, a week": await measure(20, (query) => activity(query, { from: day(7), to: day(0) })),
    "activity, half a year": await measure(5, (query) => activity(query, { from: day(DAYS), to: day(0) })),
  };
  for (const [name, times] of Object.entries(rows)) console.log(`${part}: ${name}: ${times}`);
}

async function measure(runs: number, work: (query: Parameters<typeof search>[0]) => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let i = 0; i < runs; i++) {
    const began = performance.now();
    await database.as(1, work);
    times.push(performance.now() - began);
  }
  return percentiles(times);
}

function percentiles(times: number[]): string {
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(0);
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`;
}

/** Many machines that each send one turn and search once, at the same moment. */
async function manyClients(): Promise<void> {
  const many: HubClient[] = [];
  for (let i = 0; i < MANY; i++) many.push(await joined(`many${i}`, false));
  const repository = "example.com/r0";
  const times = await Promise.all(
    many.map(async (client, i) => {
      const began = performance.now();
      await client.share({ repository, level: "prompts", chosenAt: new Date().toISOString() });
      await client.turns({ repository, revision: 1, turns: load.turns(`many-${i}`, 1, 1) });
      await client.search({ q: load.words(2), limit: 20 });
      return performance.now() - began;
    }),
  );
  console.log(
    `${MANY} clients, three requests each: ${percentiles(times)}; the hub's log: ${team.log.split("\n").length - 1} lines`,
  );
}
